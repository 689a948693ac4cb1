package redisdb

import "github.com/redis/go-redis/v9"

// A limit has up to three keys, all times in µs by Redis' clock:
//
//	places   shared: sorted set of the places given, as far as they may matter yet;
//	         else: theoretical arrival time, as GCRA has it
//	pause    "<until> <when the next probe may go, 0 = none> <when one went, 0 = none>"
//	rate     calls per second instead of the limit's own
//
// All but the rate end by themselves as soon as they say no more than their
// absence would. The clock may go back, when another server takes over: a tat that
// is further ahead than anybody reserves was written before, and says nothing.
//
// Why places out of order keep the limits. Shared: a place is given only where its
// stretch [n/rate, (n+1)/rate) has none, which keeps them even; and where of those
// around it no k+1 lie within k/rate, k being the calls of a second, or else the end
// of one stretch and the beginning of another would hold one call too many. Above
// 100 a second, where that is less than a hundredth, only the stretches count: a
// script looks at all places of the last k/rate. Else: each place g follows
// g >= tat - (burst-1)*T and tat' = max(tat, g) + T, so tat grows by T or more each
// time, and of n places from time a on the last is not before a + (n-burst)*T.
const pacePrelude = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function num(n) return string.format('%.0f', n) end
local function ttl(us) return num(math.max(1, math.ceil(us / 1000))) end
local function read_pause(text)
  local till, due, sent = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(till or 0), tonumber(due or 0), tonumber(sent or 0)
end
local function write_pause(key, till, due, sent)
  redis.call('SET', key, num(till) .. ' ' .. num(due) .. ' ' .. num(sent), 'PX', ttl(till - now))
end
`

// KEYS places, pause, rate of each limit
// ARGV most (µs), settle (µs), then of each limit: rate, burst, shared, mute (1 or 0)
// Gives {1, wait, place} or {0, wait, 0}; nothing is written then.
//
// The earliest time that all limits permit is found by asking them in turn: each
// may only move it further, so it stands when all agree.
var reserve = redis.NewScript(pacePrelude + `
local most, settle = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('MGET', unpack(KEYS)) -- a sorted set gives nothing
local at, blocked, probe, over, limits = now, 0, nil, {}, {}

for i = 1, #KEYS / 3 do
  local k, a = 3 * i - 2, 4 * i - 1
  local till, due, sent = read_pause(kept[k + 1])
  if till > now then
    if sent > 0 and now >= sent + settle then
      over[#over + 1] = KEYS[k + 1] -- nobody complained of the probe
    elseif due > 0 and sent == 0 and now >= due and ARGV[a + 3] ~= '1' then
      probe = {KEYS[k + 1], till, due}
    elseif till - now <= most then
      at = math.max(at, till)
    else
      if due > 0 and ARGV[a + 3] == '1' then due = math.max(due, now) + settle end -- after the probe
      if due > 0 then till = math.min(till, sent > 0 and sent + settle or due) end
      blocked = math.max(blocked, till)
    end
  end
  local rate = kept[k + 2] and tonumber(kept[k + 2]) or tonumber(ARGV[a])
  if rate > 0 then
    local l = {key = KEYS[k], each = 1000000 / rate, burst = tonumber(ARGV[a + 1])}
    if ARGV[a + 2] == '1' then
      l.first = math.floor(now / l.each) * l.each -- of the stretch that is now
      l.k = math.ceil(rate)
      l.window = rate <= 100 and math.floor(l.k * l.each + 0.001) or 0
      l.first = math.min(l.first, now - l.window)
      l.places = redis.call('ZRANGEBYSCORE', l.key, num(l.first), '+inf')
      for j, place in ipairs(l.places) do l.places[j] = tonumber(place) end
      l.before = 0 -- so many places are before what is looked at
    else
      l.tat = tonumber(kept[k] or 0)
      if l.tat - now > 60000000 + l.burst * l.each then l.tat = 0 end
    end
    limits[#limits + 1] = l
  end
end
if blocked > 0 then return {0, blocked - now, 0} end

-- crowded gives when to look again if a call at that time were one of more than k
-- within a window; places[l.before] is the last before it.
local function crowded(l, at, n)
  local i, k = l.before, l.k
  for j = i, math.max(1, i + 1 - k), -1 do
    local last = j + k == i + 1 and at or l.places[j + k - 1]
    if last and last - l.places[j] < l.window then return l.places[j] + l.window end
  end
  local last = l.places[i + k]
  if last and last - at < l.window then return math.ceil((n + 1) * l.each) end
end

local function earliest(l, from)
  if l.tat then return math.max(from, math.ceil(l.tat - (l.burst - 1) * l.each)) end
  while true do
    local n = math.floor(from / l.each)
    while l.places[l.before + 1] and l.places[l.before + 1] < from do l.before = l.before + 1 end
    local i, again = l.before, nil
    if l.places[i] and l.places[i] >= n * l.each or l.places[i + 1] and l.places[i + 1] < (n + 1) * l.each then
      again = math.ceil((n + 1) * l.each)
    elseif l.window > 0 then
      again = crowded(l, from, n)
    end
    if not again then return from end
    from = math.max(from + 1, again)
  end
end
repeat
  local before = at
  for _, l in ipairs(limits) do at = earliest(l, at) end
until at == before
if at - now > most then return {0, at - now, 0} end

for _, l in ipairs(limits) do
  if l.tat then
    local tat = math.max(l.tat, at) + l.each
    redis.call('SET', l.key, num(tat), 'PX', ttl(tat - now))
  else
    redis.call('ZADD', l.key, num(at), num(at))
    redis.call('ZREMRANGEBYSCORE', l.key, '-inf', '(' .. num(l.first))
    local last = math.max(at, l.places[#l.places] or 0)
    redis.call('PEXPIRE', l.key, ttl(last + math.max(l.each, l.window) - now))
  end
end
for _, key in ipairs(over) do redis.call('DEL', key) end
if probe then write_pause(probe[1], probe[2], probe[3], at) end
return {1, at - now, at}
`)

// KEYS pause of the key; for a chat also: pause of the whole, last refused chat
// ARGV for how long (µs); for a chat also: its key, window (ms), between probes (µs)
//
// A refusal while the whole is paused means that the probe failed, or that the
// call was on its way before: the next probe waits its full time.
var pause = redis.NewScript(pacePrelude + `
local function longest(key, due)
  local till = read_pause(redis.call('GET', key))
  write_pause(key, math.max(till, now + tonumber(ARGV[1])), due, 0)
end
longest(KEYS[1], 0)
if not KEYS[2] then return 0 end
local last = redis.call('GET', KEYS[3])
if (last and last ~= ARGV[2]) or redis.call('EXISTS', KEYS[2]) == 1 then
  longest(KEYS[2], now + tonumber(ARGV[4]))
end
redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
return 0
`)
