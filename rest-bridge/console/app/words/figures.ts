/** Charts of the node. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Figures', 'Kennzahlen'],
  about: [
    'Of this node, every two seconds since the page was first opened',
    'Von diesem Knoten, alle zwei Sekunden, seit die Seite geöffnet wurde',
  ],
  calls: ['Live calls', 'Laufende Anrufe'],
  liveCalls: ['Calls', 'Anrufe'],
  conferences: ['Conferences', 'Konferenzen'],
  rate: ['New calls', 'Neue Anrufe'],
  begun: ['Begun', 'Begonnen'],
  setup: ['Time to the answer of scenarios and trunks', 'Zeit bis zur Antwort von Szenarien und Anbietern'],
  median: ['Median', 'Median'],
  p95: ['95th percentile', '95. Perzentil'],
  p99: ['99th percentile', '99. Perzentil'],
  loss: ['Lost packets of ended legs', 'Verlorene Pakete beendeter Gespräche'],
  lossIn: ['From phones', 'Von Telefonen'],
  lossOut: ['To phones', 'Zu Telefonen'],
  delay: ['Delay of the event loop', 'Verzögerung der Ereignisschleife'],
  cpu: ['Processor', 'Prozessor'],
  scripts: ['Scripts in the sandbox', 'Skripte in der Sandbox'],
  node: ['Node', 'Knoten'],
});
