/** Conferences. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Conferences', 'Konferenzen'],
  none: ['No conference is active.', 'Keine Konferenz ist aktiv.'],
  room: ['Room', 'Raum'],
  roomName: ['Room {name}', 'Raum {name}'],
  people: ['Participants', 'Teilnehmer'],
  participant: ['Participant', 'Teilnehmer'],
  count: ['Number', 'Anzahl'],
  since: ['Since', 'Seit'],
  lasts: ['Duration', 'Dauer'],
  uri: ['Address', 'Adresse'],
  site: ['Site', 'Standort'],
  state: ['State', 'Status'],
  callid: ['Call-ID', 'Call-ID'],
});
