/** Live calls. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Live calls', 'Laufende Anrufe'],
  filter: ['Filter by number, name or id', 'Nach Nummer, Name oder Id filtern'],
  shown: ['{n} of {all}', '{n} von {all}'],
  from: ['From', 'Von'],
  to: ['To', 'An'],
  state: ['State', 'Status'],
  since: ['Since', 'Seit'],
  lasts: ['Duration', 'Dauer'],
  legs: ['Legs', 'Parteien'],
  id: ['Dialog', 'Dialog'],
  forking: ['Ringing', 'Klingelt'],
  dialog: ['Connected', 'Verbunden'],
  none: ['No live calls. Start one with “New call”.', 'Keine laufenden Anrufe. Beginnen Sie einen mit „Neuer Anruf“.'],
  noMatch: ['No call matches the filter.', 'Kein Anruf passt zum Filter.'],
});
