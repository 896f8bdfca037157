/** Sub-commands of `conference` for recordings. */
import { type Action, type Command, SYNTAX } from './action.ts';

const start: Action = (conference, [file]) => {
  if (file === undefined) return SYNTAX;
  if (conference.recordings.uses(file)) return `-ERR file [${file}] is already being used for recording.\n`;
  conference.recordings.start(file);
  return `+OK Record file ${file}\n`;
};

const stop: Action = (conference, [which]) => {
  if (which === undefined) return SYNTAX;
  const stopped = conference.recordings.stop(which.toLowerCase() === 'all' ? 'all' : which);
  const told =
    stopped.length === 0 && which.toLowerCase() !== 'all'
      ? `-ERR non-existant recording '${which}'\n`
      : stopped.map((name) => `Stopped recording file ${name}\n`).join('');
  // FreeSWITCH always answers zero, because it counts before the recordings have ended.
  return `${told}+OK Stopped recording 0 files\n`;
};

const pause =
  (paused: boolean): Action =>
  (conference, [file]) => {
    if (file === undefined) return SYNTAX;
    const answer = `+OK ${paused ? 'Pause' : 'Resume'} recording file ${file}\n`;
    const recording = conference.recordings.get(file);
    if (recording === undefined) return `${answer}-ERR non-existant recording '${file}'\n`;
    recording.paused = paused;
    const headers = { Path: file, 'Other-Recordings': String(conference.recordings.any) };
    conference.publish(paused ? 'pause-recording' : 'resume-recording', undefined, headers);
    return answer;
  };

const check: Action = ({ recordings }) =>
  recordings.running.length === 0
    ? '-ERR Conference is not being recorded.\n'
    : recordings.running.map(({ name }) => `+OK Record file ${name}\n`).join('');

const ACTIONS: Readonly<Record<string, Action>> = {
  start,
  stop,
  check,
  pause: pause(true),
  resume: pause(false),
};

const recording: Action = (conference, [action, ...words]) => {
  if (action === undefined) return SYNTAX;
  const name = action.toLowerCase();
  // A single word is FreeSWITCH's older form, `recording <file>`.
  if (words.length === 0)
    return name === 'stop' || name === 'check'
      ? (ACTIONS[name] as Action)(conference, ['all'])
      : start(conference, [action]);
  return ACTIONS[name]?.(conference, words) ?? SYNTAX;
};

/** Sub-commands that record the mix. The events `start-recording` and `stop-recording` report the results. */
export const RECORDING_COMMANDS: readonly (readonly [string, Command])[] = [
  ['chkrecord', { syntax: '<confname>', run: check }],
  ['norecord', { syntax: '<[filename|all]>', run: stop }],
  ['pause', { syntax: '<filename>', run: pause(true) }],
  ['record', { syntax: '<filename>', run: start }],
  ['recording', { syntax: '[start|stop|check|pause|resume] [<filename>|all]', run: recording }],
  ['resume', { syntax: '<filename>', run: pause(false) }],
];
