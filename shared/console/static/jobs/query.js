// Which jobs are listed, and how the address says it:
// #/jobs?state=completed&kind=deliver.&error=timeout&request=telegram:bot:1&lane=...
// Names and values are those of the API. Without a state it is those in review.

export const review = 'needs_review';

/** What can be chosen: the API's states, all of which "all" means. */
export const states = [review, 'accepted,queued', 'running', 'completed', 'cancelled', 'all'];

/** The filters beside the state; the API replays reviews by the same. */
export const fields = ['kind', 'error', 'request', 'lane'];

/** Reads the address; what is no value of its field counts as not said. */
export function read(query) {
  const said = new URLSearchParams(query ?? '');
  const filters = { state: states.includes(said.get('state')) ? said.get('state') : review };
  for (const name of fields) filters[name] = (said.get(name) ?? '').trim();
  return filters;
}

/** The fields that are set. */
export const chosen = (filters) => Object.fromEntries(fields.filter((name) => filters[name]).map((name) => [name, filters[name]]));

/** Writes the address. */
export function write(filters) {
  const said = new URLSearchParams({ ...(filters.state !== review && { state: filters.state }), ...chosen(filters) }).toString();
  return said ? `#/jobs?${said}` : '#/jobs';
}

/** What the API is asked for. */
export const questionOf = (filters, more = {}) => `jobs?${new URLSearchParams({ ...(filters.state !== 'all' && { state: filters.state }), ...chosen(filters), ...more })}`;
