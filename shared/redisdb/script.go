package redisdb

import "github.com/redis/go-redis/v9"

// A conversation is one hash, so that one script sees all of it:
//
//	v              version of the state
//	s              dialog.State
//	p              dialog.Profile, the kept copy of the person
//	ban            until when a ban is believed without asking, ms
//	tat, flood     customer's limit (theoretical arrival time), last refusal, ms
//	lt, lu         reply lease: token, until when, ms
//	e:<event key>  dialog.Entry that is not done
//	t:<event key>  when it was written, ms
//	r:<event key>  its jobs are inserted
//	b:<event key>  token of the lease under which its replies were begun
//
// Beside it "seen" holds the keys of events that are done, "tickets" the
// customer's list (field per ticket), and one sorted set for all conversations
// names those that have entries, by the time of the oldest. Of a customer who was
// erased "erased" has the time, and "spent" digests of what was seen, both under
// digests themselves. Times are Redis' own.
// They may go back, when another server takes over: what is much further ahead than
// it can be was written before, and counts as past.
const prelude = `
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function ms(n) return string.format('%.0f', n) end
-- entries gives key, entry, recorded, token of the lease it was begun under.
local function entries(conv)
  local all, out = redis.call('HGETALL', conv), {}
  local r, b = {}, {}
  for i = 1, #all, 2 do
    local kind, key = string.sub(all[i], 1, 2), string.sub(all[i], 3)
    if kind == 'r:' then r[key] = '1' elseif kind == 'b:' then b[key] = all[i + 1] end
  end
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 2) == 'e:' then
      local key = string.sub(all[i], 3)
      out[#out + 1] = key
      out[#out + 1] = all[i + 1]
      out[#out + 1] = r[key] or ''
      out[#out + 1] = b[key] or ''
    end
  end
  return out
end
-- done says whether an event was handled, with all that follows from it.
local function done(seen, spent, key)
  return redis.call('ZSCORE', seen, key) or redis.call('ZSCORE', spent, redis.sha1hex(key))
end
-- forgot says whether a mark that has to be there is gone, and with it what was handled.
local function forgot(mark) return mark and redis.call('EXISTS', mark) == 0 end
-- busy says whether a conversation owes something, or somebody works on it.
local function busy(conv, lease)
  local left = tonumber(redis.call('HGET', conv, 'lu') or '0') - now()
  return #entries(conv) > 0 or (left > 0 and left <= 2 * tonumber(lease))
end
-- take takes the reply lease if it is free; all entries count as begun then.
local function take(conv, token, lease, list)
  local t, holder = now(), redis.call('HGET', conv, 'lt')
  local left = tonumber(redis.call('HGET', conv, 'lu') or '0') - t
  if #list == 0 or (holder and holder ~= token and left > 0 and left <= 2 * tonumber(lease)) then
    return 0
  end
  redis.call('HSET', conv, 'lt', token, 'lu', ms(t + tonumber(lease)))
  for i = 1, #list, 4 do redis.call('HSETNX', conv, 'b:' .. list[i], token) end
  return 1
end
local function put_tickets(key, generation, at, ttl, args, first)
  if (redis.call('HGET', key, 'gen') or '0') ~= generation then return end
  for _, f in ipairs(redis.call('HKEYS', key)) do
    if string.sub(f, 1, 2) == 't:' then redis.call('HDEL', key, f) end
  end
  redis.call('HSET', key, 'at', at)
  for i = first, #args, 2 do redis.call('HSET', key, 't:' .. args[i], args[i + 1]) end
  redis.call('PEXPIRE', key, ttl)
end
`

// KEYS conversation, seen, tickets, erased, spent, mark (or none)
// ARGV key, burst, every (ms), pause between warnings (ms), ttl (ms), seen's ttl
// (ms), seen's size, when it happened (ms; empty: unknown)
var load = redis.NewScript(prelude + `
if forgot(KEYS[6]) then return {'forgotten'} end
if done(KEYS[2], KEYS[5], ARGV[1]) then return {'seen'} end
local erased = redis.call('GET', KEYS[4])
if erased and ARGV[8] ~= '' and tonumber(ARGV[8]) < tonumber(erased) then return {'seen'} end
local verdict = 'fresh'
-- What is refused stays so, whoever brings it later.
local function refused(t)
  redis.call('ZADD', KEYS[2], t, ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[7]) - 1)
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
if redis.call('HEXISTS', KEYS[1], 'e:' .. ARGV[1]) == 1 then
  verdict = 'repeated'
else
  local t = now()
  if tonumber(redis.call('HGET', KEYS[1], 'ban') or '0') > t then
    refused(t)
    return {'banned'}
  end
  local burst, every = tonumber(ARGV[2]), tonumber(ARGV[3])
  if burst > 0 then
    local tat = math.max(tonumber(redis.call('HGET', KEYS[1], 'tat') or '0'), t)
    if tat - t > burst * every then tat = t end
    if tat - t > (burst - 1) * every then
      local last = tonumber(redis.call('HGET', KEYS[1], 'flood') or '0')
      redis.call('HSET', KEYS[1], 'flood', ms(t))
      refused(t)
      if last <= t and t - last < tonumber(ARGV[4]) then return {'flooding'} end
      verdict = 'warned'
    else
      redis.call('HSET', KEYS[1], 'tat', ms(tat + every))
      if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
    end
  end
end
return {verdict, redis.call('HMGET', KEYS[1], 'v', 's', 'p'), entries(KEYS[1]), redis.call('HGETALL', KEYS[3]), 0}
`)

// KEYS conversation, seen, tickets, index, spent, mark (or none)
// ARGV key, version, state, profile, ban (empty, '0', or for how long, ms), entry,
// writer, token, lease (ms), ttl (ms), address, seen's ttl (ms), seen's size,
// tickets' generation (empty = none), their time, then ref and ticket in turn
var commit = redis.NewScript(prelude + `
local conv, key = KEYS[1], ARGV[1]
if forgot(KEYS[6]) then return {'forgotten'} end
if done(KEYS[2], KEYS[5], key) then return {'seen'} end
local mine = redis.call('HGET', conv, 'e:' .. key)
local function all(verdict)
  return {verdict, redis.call('HMGET', conv, 'v', 's', 'p'), entries(conv), redis.call('HGETALL', KEYS[3]), 0}
end
if mine then
  if not string.find(mine, ARGV[7], 1, true) then return all('repeated') end
elseif (redis.call('HGET', conv, 'v') or '0') ~= ARGV[2] then
  return all('conflict')
else
  local t = now()
  redis.call('HSET', conv, 'v', ms(tonumber(ARGV[2]) + 1), 's', ARGV[3])
  if ARGV[4] ~= '' then redis.call('HSET', conv, 'p', ARGV[4]) end
  if ARGV[5] == '0' then redis.call('HDEL', conv, 'ban')
  elseif ARGV[5] ~= '' then redis.call('HSET', conv, 'ban', ms(t + tonumber(ARGV[5]))) end
  if ARGV[14] ~= '' then put_tickets(KEYS[3], ARGV[14], ARGV[15], ARGV[10], ARGV, 16) end
  redis.call('PEXPIRE', conv, ARGV[10])
  if ARGV[6] == '' then
    redis.call('ZADD', KEYS[2], t, key)
    redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[13]) - 1)
    redis.call('PEXPIRE', KEYS[2], ARGV[12])
    return {'committed', {false, false, false}, {}, {}, 0}
  end
  redis.call('HSET', conv, 'e:' .. key, ARGV[6], 't:' .. key, ms(t))
  redis.call('ZADD', KEYS[4], 'NX', t, ARGV[11])
end
local list = entries(conv)
local holds = take(conv, ARGV[8], ARGV[9], list)
return {'committed', {false, false, false}, list, {}, holds}
`)

// KEYS conversation, tickets, index
// ARGV token, lease (ms), key of an entry whose jobs are inserted (empty = none),
// address. Redis may have dropped the conversation: then it owes nothing.
var seize = redis.NewScript(prelude + `
local key = ARGV[3]
if key ~= '' and redis.call('HEXISTS', KEYS[1], 'e:' .. key) == 1 then redis.call('HSET', KEYS[1], 'r:' .. key, '1') end
local list = entries(KEYS[1])
if #list == 0 then redis.call('ZREM', KEYS[3], ARGV[4]) end
if take(KEYS[1], ARGV[1], ARGV[2], list) == 0 then return {'', {false, false, false}, {}, {}, 0} end
return {'', redis.call('HMGET', KEYS[1], 'v', 's', 'p'), list, redis.call('HGETALL', KEYS[2]), 1}
`)

// KEYS conversation, seen, tickets, index
// ARGV token, lease (ms), key of the entry that is done, address, profile (empty
// = leave, '-' = forget), seen's ttl (ms), seen's size, ttl (ms), tickets'
// generation (empty = none), their time, then ref and ticket in turn
//
// A profile is only kept by whoever finished the entry, and when nothing is
// pending: a later event may have changed the person meanwhile.
var finish = redis.NewScript(prelude + `
local conv, key, t = KEYS[1], ARGV[3], now()
local first = redis.call('HDEL', conv, 'e:' .. key)
redis.call('HDEL', conv, 't:' .. key, 'r:' .. key, 'b:' .. key)
redis.call('ZADD', KEYS[2], t, key)
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[7]) - 1)
redis.call('PEXPIRE', KEYS[2], ARGV[6])
if ARGV[9] ~= '' then put_tickets(KEYS[3], ARGV[9], ARGV[10], ARGV[8], ARGV, 11) end
local list, oldest = entries(conv), t
if ARGV[5] == '-' then redis.call('HDEL', conv, 'p')
elseif ARGV[5] ~= '' and first == 1 and #list == 0 and redis.call('EXISTS', conv) == 1 then redis.call('HSET', conv, 'p', ARGV[5]) end
for i = 1, #list, 4 do
  oldest = math.min(oldest, tonumber(redis.call('HGET', conv, 't:' .. list[i]) or ms(t)))
end
if #list == 0 then redis.call('ZREM', KEYS[4], ARGV[4])
else redis.call('ZADD', KEYS[4], oldest, ARGV[4]) end
if redis.call('HGET', conv, 'lt') ~= ARGV[1] then return {'', {false, false, false}, {}, {}, 0} end
if #list == 0 then
  redis.call('HDEL', conv, 'lt', 'lu')
  return {'', {false, false, false}, {}, {}, 0}
end
return {'', {false, false, false}, list, redis.call('HGETALL', KEYS[3]), take(conv, ARGV[1], ARGV[2], list)}
`)

// KEYS conversation
// ARGV token, key of the one entry whose replies were begun (empty = none)
var release = redis.NewScript(prelude + `
if redis.call('HGET', KEYS[1], 'lt') == ARGV[1] then redis.call('HDEL', KEYS[1], 'lt', 'lu') end
local list = entries(KEYS[1])
for i = 1, #list, 4 do
  if list[i] ~= ARGV[2] and list[i + 3] == ARGV[1] then redis.call('HDEL', KEYS[1], 'b:' .. list[i]) end
end
return 0
`)

// KEYS conversation; ARGV lease (ms)
var idle = redis.NewScript(prelude + `
if busy(KEYS[1], ARGV[1]) then return 0 end
return 1
`)

// KEYS conversation, seen, tickets, index, erased, spent; ARGV address, lease (ms),
// seen's ttl (ms), seen's size. Messengers tell whole seconds: what comes in this one,
// and was not seen, is heard.
var erase = redis.NewScript(prelude + `
if busy(KEYS[1], ARGV[2]) then return 0 end
local seen = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for i = 1, #seen, 2 do redis.call('ZADD', KEYS[6], seen[i + 1], redis.sha1hex(seen[i])) end
redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -tonumber(ARGV[4]) - 1)
redis.call('PEXPIRE', KEYS[6], ARGV[3])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('SET', KEYS[5], ms(math.floor(now() / 1000) * 1000), 'PX', ARGV[3])
return 1
`)

// KEYS index; ARGV age (ms), how many, what the keys of conversations begin and
// end with. What is listed goes to the end of the line, so that conversations that
// cannot be completed do not keep others from it; what Redis has dropped leaves it.
var stale = redis.NewScript(prelude + `
local t, out = now(), {}
local function list(from, to)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, ARGV[2])) do
    if redis.call('EXISTS', ARGV[3] .. name .. ARGV[4]) == 1 then
      redis.call('ZADD', KEYS[1], t, name)
      out[#out + 1] = name
    else
      redis.call('ZREM', KEYS[1], name)
    end
  end
end
list('(' .. ms(t), '+inf')
list('-inf', ms(t - tonumber(ARGV[1])))
return out
`)

// KEYS tickets; ARGV generation, time, ttl (ms), then ref and ticket in turn
var putTickets = redis.NewScript(prelude + `
put_tickets(KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV, 4)
return 0
`)

// KEYS tickets; ARGV ref, ticket, ttl (ms). A list that is not known stays so.
var upsertTicket = redis.NewScript(`
redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if redis.call('HEXISTS', KEYS[1], 'at') == 1 then redis.call('HSET', KEYS[1], 't:' .. ARGV[1], ARGV[2]) end
return 0
`)

// KEYS tickets; ARGV ttl (ms). The generation stays: a reading that began before
// must not be kept.
var dropTickets = redis.NewScript(`
local gen = redis.call('HINCRBY', KEYS[1], 'gen', 1)
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'gen', gen)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
`)
