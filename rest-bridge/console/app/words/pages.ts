/** Titles of pages and groups of the navigation. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  operate: ['Operate', 'Betrieb'],
  author: ['Build', 'Entwickeln'],
  mine: ['Mine', 'Meins'],
  calls: ['Calls', 'Anrufe'],
  conferences: ['Conferences', 'Konferenzen'],
  history: ['History', 'Historie'],
  figures: ['Figures', 'Kennzahlen'],
  registrations: ['Registrations', 'Registrierungen'],
  trunks: ['Trunks', 'Anbieter'],
  operations: ['Operations', 'Operationen'],
  nodes: ['Nodes', 'Knoten'],
  scenarios: ['Scenarios', 'Szenarien'],
  runs: ['Runs', 'Läufe'],
  myCalls: ['My calls', 'Meine Anrufe'],
  myHistory: ['My history', 'Meine Historie'],
  myRooms: ['My rooms', 'Meine Räume'],
  voicemail: ['Voicemail', 'Mailbox'],
  account: ['Account', 'Konto'],
  phone: ['Phone', 'Telefon'],
});
