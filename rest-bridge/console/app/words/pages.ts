/** Titles of pages and groups of the navigation. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  operate: ['Operate', 'Betrieb'],
  author: ['Build', 'Entwickeln'],
  mine: ['Mine', 'Meins'],
  calls: ['Calls', 'Anrufe'],
});
