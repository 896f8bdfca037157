/** Nodes and drain. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Nodes', 'Knoten'],
  thisNode: ['This node', 'Dieser Knoten'],
  cluster: ['Cluster', 'Cluster'],
  single: [
    'This node works alone: no cluster is set up.',
    'Dieser Knoten arbeitet allein: Es ist kein Cluster eingerichtet.',
  ],
  away: [
    'NATS does not answer: the node works alone. The others are shown as they were last seen.',
    'NATS antwortet nicht: Der Knoten arbeitet allein. Die anderen sind so gezeigt, wie sie zuletzt gesehen wurden.',
  ],
  node: ['Node', 'Knoten'],
  asked: ['(this one)', '(dieser)'],
  state: ['State', 'Status'],
  calls: ['Calls', 'Anrufe'],
  runs: ['Runs', 'Läufe'],
  site: ['Site', 'Standort'],
  roles: ['Roles', 'Rollen'],
  version: ['Version', 'Version'],
  started: ['Started', 'Gestartet'],
  since: ['Draining since', 'Wird geleert seit'],
  until: ['Calls are ended at', 'Anrufe werden beendet um'],
  accepting: ['Takes calls', 'Nimmt Anrufe an'],
  draining: ['Draining', 'Wird geleert'],
  ending: ['Ending', 'Endet'],
  drain: ['Drain …', 'Leeren …'],
  accept: ['Take calls again', 'Wieder Anrufe annehmen'],
  drainTitle: ['Drain this node', 'Diesen Knoten leeren'],
  drainHelp: [
    'The node takes no new calls and ends after the live ones. You can cancel it while it is up.',
    'Der Knoten nimmt keine neuen Anrufe an und endet nach den laufenden. Solange er läuft, können Sie das abbrechen.',
  ],
  seconds: ['Seconds for the live calls to end', 'Sekunden, bis laufende Anrufe beendet werden'],
  secondsHint: ['Empty: the setting of the node', 'Leer: die Einstellung des Knotens'],
  drainNow: ['Drain now', 'Jetzt leeren'],
});
