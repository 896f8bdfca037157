/** Providers. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Trunks', 'Anbieter'],
  none: ['No provider is set up.', 'Kein Anbieter ist eingerichtet.'],
  code: ['Code', 'Code'],
  name: ['Name', 'Name'],
  host: ['Host', 'Host'],
  state: ['State', 'Status'],
  reachable: ['Reachable', 'Erreichbar'],
  lastAnswer: ['Last answer', 'Letzte Antwort'],
  since: ['Since', 'Seit'],
  expires: ['Expires', 'Läuft ab'],
  register: ['Registration', 'Registrierung'],
  maxCalls: ['Calls at most', 'Höchstens Anrufe'],
  gateway: ['Gateway {name}', 'Gateway {name}'],
  registered: ['Registered', 'Registriert'],
  registering: ['Registering', 'Registriert sich'],
  rejected: ['Rejected', 'Abgelehnt'],
  unreachable: ['Unreachable', 'Nicht erreichbar'],
  unregistered: ['No registration', 'Keine Registrierung'],
  off: ['Switched off', 'Abgeschaltet'],
  yes: ['Yes', 'Ja'],
  no: ['No', 'Nein'],
  unknown: ['Not asked', 'Nicht gefragt'],
});
