/** Recordings. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Recordings', 'Aufnahmen'],
  none: ['The call is not recorded.', 'Der Anruf wird nicht aufgenommen.'],
  recording: ['Recording', 'Nimmt auf'],
  saved: ['Saved', 'Gespeichert'],
  failed: ['Failed', 'Fehlgeschlagen'],
  listen: ['Listen', 'Anhören'],
  player: ['Player of the recording', 'Wiedergabe der Aufnahme'],
  download: ['Download', 'Herunterladen'],
  side: ['Sound of {name}', 'Ton von {name}'],
});
