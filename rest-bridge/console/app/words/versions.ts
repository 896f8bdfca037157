/** Versions of a scenario, and conflicts of two authors. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  conflict: ['Somebody else saved meanwhile', 'Jemand anderes hat inzwischen gespeichert'],
  conflictHelp: [
    'Make one text of both: the arrows take a change over to the right, where you can also type.',
    'Machen Sie einen Text aus beiden: Die Pfeile übernehmen eine Änderung nach rechts, wo Sie auch schreiben können.',
  ],
  takeChange: ['Take this change over', 'Diese Änderung übernehmen'],
  theirs: ['Theirs, version {n}', 'Deren Version {n}'],
  yours: ['Yours', 'Ihre'],
  saveRight: ['Save the right text', 'Den rechten Text speichern'],
  takeTheirs: ['Take theirs into the editor', 'Deren Text in den Editor übernehmen'],
  goOn: ['Go on writing', 'Weiterschreiben'],
  saved: ['Version {n} is saved.', 'Version {n} ist gespeichert.'],
  title: ['Versions', 'Versionen'],
  version: ['Version {n}', 'Version {n}'],
  serves: ['{percent} % of new calls', '{percent} % der neuen Anrufe'],
  callers: ['calls from {numbers}', 'Anrufe von {numbers}'],
  mistakes: ['has mistakes', 'hat Fehler'],
  compare: ['Compare with the text', 'Mit dem Text vergleichen'],
  now: ['The text in the editor', 'Der Text im Editor'],
  serve: ['Serve', 'In Betrieb nehmen'],
  nowServes: ['Version {n} serves new calls.', 'Version {n} bedient neue Anrufe.'],
  trial: ['Trial', 'Versuch'],
  share: ['Percent of new calls for version {n}', 'Prozent der neuen Anrufe für Version {n}'],
  begin: ['Begin the trial', 'Versuch beginnen'],
  rollBack: ['Roll back', 'Zurückrollen'],
  rollBackHelp: [
    'Ends a trial, or returns to the version before. Calls in progress keep theirs.',
    'Beendet einen Versuch oder kehrt zur vorigen Version zurück. Laufende Anrufe behalten ihre.',
  ],
  rolledBack: ['New calls get the version before.', 'Neue Anrufe erhalten die vorige Version.'],
});
