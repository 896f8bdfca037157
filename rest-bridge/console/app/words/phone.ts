/** The softphone in the console; its own words are those of the page at `/phone`. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  calls: ['Calls of the phone', 'Anrufe des Telefons'],
  callsYou: ['{name} calls you', '{name} ruft an'],
  callWith: ['Call with {name}', 'Anruf mit {name}'],
  answer: ['Answer', 'Annehmen'],
  decline: ['Decline', 'Ablehnen'],
  hangUp: ['Hang up', 'Auflegen'],
  callNumber: ['Call {number}', '{number} anrufen'],
  ready: ['ready', 'bereit'],
  live: ['{n} live', '{n} aktiv'],
});
