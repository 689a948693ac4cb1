// What becomes of a test to oneself.

import { call } from './api.js';
import { toast } from './dialog.js';
import { t } from './i18n.js';
import { poll } from './poll.js';
import { ended } from './words.js';

/** Watches a test until it has arrived or not, and says so. */
export function watchTest(id) {
  const over = toast(t('test.sent'));
  return poll(async () => {
    const { state, counts } = await call('GET', `broadcasts/${id}/progress`);
    if (!ended(state)) return 700;
    over();
    if (counts.sent) toast(t('test.arrived'));
    else toast(t(counts.blocked || counts.skipped ? 'test.blocked' : counts.uncertain ? 'test.uncertain' : 'test.failed'), 'bad');
    return 0;
  });
}
