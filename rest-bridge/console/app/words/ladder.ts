/** Ladder diagrams. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['SIP messages', 'SIP-Nachrichten'],
  node: ['this node', 'dieser Knoten'],
  gone: [
    'The messages of this call are no longer kept, or were on another node.',
    'Die Nachrichten dieses Anrufs werden nicht mehr aufbewahrt oder lagen auf einem anderen Knoten.',
  ],
  incomplete: ['Some messages are no longer kept.', 'Einige Nachrichten werden nicht mehr aufbewahrt.'],
});
