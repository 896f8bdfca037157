/** The catalogue of error codes: what a scenario reads as `error.code`, and a module as `code` of what it catches. */

import type { AuthorCode } from '../sandbox/index.ts';

/** The description of a code for authors. */
export interface ErrorFacts {
  /** What was wrong, in the Markdown of docs/scenarios/errors.md. */
  readonly meaning: string;
  /** What the author can do about it. */
  readonly remedy: string;
  /** Components that fail with it, or a group of them in words. */
  readonly from: readonly string[] | string;
}

const EVERY_CALL_BLOCK = 'every block that needs a call';
const LIVE_CALLS = [
  'bindings',
  'hold_melody',
  'leg_dtmf',
  'leg_notify',
  'record_call',
  'recognise_call',
  'terminate',
] as const;

/** All codes in alphabetical order. Scenarios rely on them: a code never changes. */
export const SCENARIO_ERRORS = {
  ambiguous: {
    meaning: 'The selector of a call operation matches several dialogs; the message has their ids.',
    remedy: 'Name one by `dialogid`.',
    from: ['call operations'],
  },
  argument: {
    meaning: 'An argument of a started scenario is unknown, missing, or of another type.',
    remedy: "Compare `args` with the scenario's `parameters`.",
    from: ['run'],
  },
  call_ended: {
    meaning: 'The call is over, or ended during the block.',
    remedy: 'Store results in `finally`. Use a block that needs no call.',
    from: EVERY_CALL_BLOCK,
  },
  call_state: {
    meaning: 'The call is in a state that the component cannot use, e.g. not answered, or transferred.',
    remedy: 'Put `answer`, or `call`, before the block.',
    from: EVERY_CALL_BLOCK,
  },
  cancelled: {
    meaning: 'In modules: the function was ended by `cancel()`.',
    remedy: 'Catch it where you cancel.',
    from: 'functions of modules',
  },
  compile: {
    meaning: 'The code has a syntax error.',
    remedy: 'Run `check`.',
    from: ['script'],
  },
  debugger_not_allowed: {
    meaning: 'The run was to wait for a debugger, which the operator does not allow.',
    remedy: 'Debug with `npx ringmaster simulate FILE --debug`.',
    from: 'scripts and modules',
  },
  dialog_not_found: {
    meaning: 'No live dialog of the domain matches.',
    remedy: 'The call may be over: handle the error.',
    from: ['call operations', ...LIVE_CALLS],
  },
  expression: {
    meaning: 'An expression failed: a missing field, a division by 0, a missing secret, a wrong type at run time.',
    remedy: 'Test the field with `has(a.b)` first.',
    from: 'every block',
  },
  http_busy: {
    meaning: 'The node has too many HTTP requests of scenarios in progress.',
    remedy: 'Try again later.',
    from: ['http'],
  },
  http_failed: {
    meaning: 'The server cannot be reached, broke the connection, or redirected wrongly.',
    remedy: 'Handle it as a failure of the server.',
    from: ['http'],
  },
  http_forbidden: {
    meaning: 'The URL is invalid or holds credentials, or the operator does not allow its host or network.',
    remedy: 'Correct the URL, or ask the operator for `RINGMASTER_SCENARIO_HOSTS` and `RINGMASTER_SCENARIO_NETWORKS`.',
    from: ['http', 'webhook'],
  },
  http_timeout: {
    meaning: 'No complete answer within `timeout`.',
    remedy: 'Raise `timeout`, or go on without the answer.',
    from: ['http'],
  },
  http_too_large: {
    meaning: 'The answer is larger than `max_bytes`.',
    remedy: 'Raise `max_bytes`, or ask for less.',
    from: ['http'],
  },
  internal: {
    meaning: 'A fault in Ringmaster, the media server or a server behind it.',
    remedy: 'Read the trace and the log of the node, and report it.',
    from: 'every block',
  },
  leg_in_use: {
    meaning: '`call` names a leg whose call is still up.',
    remedy: 'Take another name, or hang up first.',
    from: ['call'],
  },
  limit: {
    meaning: 'A script or a report exceeded a [limit](limits.md); the message names it.',
    remedy: 'Do less, or raise the limit in `limits`.',
    from: ['script', 'report'],
  },
  mail_failed: {
    meaning: 'The mail server cannot be reached, does not let the node in, or cannot take the mail now.',
    remedy: 'Send it later, from a scenario of its own.',
    from: ['email'],
  },
  mail_refused: {
    meaning: 'The mail server refuses the mail, or all recipients, for good.',
    remedy: 'Correct the address.',
    from: ['email'],
  },
  mail_timeout: {
    meaning: 'The exchange with the mail server took longer than `timeout`; the server may have the mail or not.',
    remedy: 'Raise `timeout`, or ask the operator.',
    from: ['email'],
  },
  mail_too_large: {
    meaning: 'The attached recordings have more than 20 MiB.',
    remedy: 'Record less, or attach less.',
    from: ['email'],
  },
  model_conflict: {
    meaning: 'An entity with that id, or that unique value, exists.',
    remedy: 'Read the entity, or take another id.',
    from: ['model_write'],
  },
  model_refused: {
    meaning: 'The data model refused the request; the message names the field.',
    remedy: 'Compare the values with the class.',
    from: ['model_list', 'model_read', 'model_write'],
  },
  model_unknown_class: {
    meaning: 'The domain has no class of that name.',
    remedy: 'Create the class by REST.',
    from: ['model_list', 'model_read', 'model_write'],
  },
  no_call: {
    meaning: 'The component needs a call, and the run has none.',
    remedy: 'Call somebody first, or start the scenario by a call.',
    from: EVERY_CALL_BLOCK,
  },
  no_secret: {
    meaning: 'In scripts and modules: the domain has no secret of that name.',
    remedy: 'Ask the operator to add it.',
    from: 'scripts and modules',
  },
  no_sound: {
    meaning: 'The file of a prompt or of a URL is no sound that can be decoded, or is longer than ten minutes.',
    remedy: 'Use WAV, MP3, Opus in Ogg, or FLAC.',
    from: 'every block that plays sounds',
  },
  no_such_leg: {
    meaning: 'No party was called under that name.',
    remedy: 'Call it first: `call` with `leg`.',
    from: EVERY_CALL_BLOCK,
  },
  no_such_prompt: {
    meaning:
      'The sound is invalid, or neither the domain nor the folder `prompts` has it in the run’s language or for every language.',
    remedy: 'Upload it, or put the file into `prompts` beside the scenario.',
    from: 'every block that plays sounds',
  },
  no_such_recording: {
    meaning: 'The recording is missing or deleted.',
    remedy: 'Use the name that `record` gave.',
    from: 'every block that plays sounds',
  },
  no_such_run: {
    meaning: 'No run of that id is in progress in the domain, or ended lately; or the node of the run died.',
    remedy: 'Use the `run` that the block `run` gave.',
    from: ['await_run'],
  },
  no_such_scenario: {
    meaning: 'The domain has no scenario of that id, or it has mistakes.',
    remedy: 'Run `check` on that scenario.',
    from: ['run', 'serve', 'call', 'hunt', 'refer'],
  },
  node_unreachable: {
    meaning: 'Another node of the cluster, or the connection to it, does not answer at the moment.',
    remedy: 'Try again later.',
    from: ['call operations', 'send', 'await_run', 'retrieve'],
  },
  not_applicable: {
    meaning: 'The operation does not fit the call or the device; the message names the field and the reason.',
    remedy: 'Handle it as a refusal.',
    from: ['call operations', ...LIVE_CALLS, 'call', 'transcribe'],
  },
  not_found: {
    meaning: 'The conference, participant or other entity that the operation names is missing.',
    remedy: 'It may be over: handle the error.',
    from: ['call operations'],
  },
  not_plain: {
    meaning: 'In scripts: a value is not JSON, is nested more than 100 levels deep, or is too long.',
    remedy: 'Pass plain data, and less of it.',
    from: 'scripts and modules',
  },
  overload: {
    meaning: 'The node takes no more calls at the moment.',
    remedy: 'Try again later.',
    from: ['call operations'],
  },
  parameter: {
    meaning: 'A parameter of a call operation is missing, unknown or invalid; the message names it.',
    remedy: 'Correct the parameter.',
    from: ['call operations'],
  },
  queue_full: {
    meaning: 'The queue has no place left.',
    remedy: 'Offer a message instead.',
    from: ['queue'],
  },
  recording_not_found: {
    meaning: 'The archive has no recording of that name.',
    remedy: 'Use `reclink` and `idconn` of an entry of the archive.',
    from: ['transcribe', 'call operations'],
  },
  run_lost: {
    meaning: 'The node of a cluster that ran the scenario died, and no other node could go on with it.',
    remedy: 'See which runs of [a cluster](../operating/cluster.md) go on.',
    from: 'the run as a whole; only its record shows it',
  },
  sandbox_lost: {
    meaning: 'The process that ran the script died, or the script gave another result when it was resumed.',
    remedy: 'Give the scenario a `fallback`.',
    from: 'scripts and modules',
  },
  script: {
    meaning: 'A script threw an exception without a code; the message has the place.',
    remedy: 'Correct the script, or catch the exception.',
    from: 'scripts and modules',
  },
  setting: {
    meaning: 'A setting that is known at run time only is unknown, missing or invalid.',
    remedy: 'Correct the setting; durations are at most a week.',
    from: 'every block',
  },
  slot_taken: {
    meaning: 'The parking slot is taken, or none is free.',
    remedy: 'Take another slot, or leave `slot` empty.',
    from: ['park'],
  },
  speech_busy: {
    meaning: 'All streams of speech recognition are in use.',
    remedy: 'Ask for digits instead, or try again later.',
    from: ['transcribe'],
  },
  speech_failed: {
    meaning: 'The speech engine failed or did not answer.',
    remedy: 'Ask for digits instead.',
    from: ['transcribe'],
  },
  stalled: {
    meaning: 'In scripts: the code waits for something that cannot happen.',
    remedy: 'Await a function, or return.',
    from: ['script'],
  },
  step_limit: {
    meaning: 'The run made too many steps in a row without a wait.',
    remedy: 'Wait in the loop, or raise the limit `steps`.',
    from: 'the run as a whole; a block `run` that waits for it can catch it',
  },
  stopped: {
    meaning: 'In modules: the run was stopped from outside, or reached its limit `wall`.',
    remedy: 'Store data in `finally`.',
    from: 'functions of modules',
  },
  text_too_long: {
    meaning: 'A text message is longer than 1300 octets.',
    remedy: 'Send it in parts.',
    from: ['send_message'],
  },
  time_limit: {
    meaning: 'The run reached its limit `wall`, or `finally` took longer than a minute.',
    remedy: 'Do less, or raise the limit `wall`.',
    from: 'the run as a whole; a block `run` that waits for it can catch it',
  },
  too_deep: {
    meaning: 'Scenarios run each other 16 levels deep.',
    remedy: 'Use a loop instead of recursion.',
    from: ['run'],
  },
  too_many: {
    meaning: 'Too many legs, or too many runs in progress; the message says which.',
    remedy: 'End some of them first.',
    from: ['call', 'run'],
  },
  type: {
    meaning: 'A value does not fit the type of its variable.',
    remedy: 'Convert it, e.g. `string(x)`, or declare the type.',
    from: ['set', 'script'],
  },
  unavailable: {
    meaning: 'This node lacks the ability or service, e.g. a speech engine.',
    remedy: 'Name the exit `error`, and ask the operator.',
    from: 'every block that needs a service',
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;

/** A code of the catalogue. */
export type ScenarioErrorCode = keyof typeof SCENARIO_ERRORS;

export const SCENARIO_ERROR_CODES = Object.keys(SCENARIO_ERRORS) as readonly ScenarioErrorCode[];

/**
 * Codes that no author reads. `interrupted` cuts a block short by an interrupt, and the run goes on elsewhere with its call.
 * `over` ends the work in progress at the end of the run. `aborted` ends a script. `forbidden` refuses an operation to a user
 * of REST; a scenario has the rights of its domain.
 */
export type InternalCode = 'interrupted' | 'over' | 'aborted' | 'forbidden';

/** Every code that an error of a run can have. */
export type ErrorCode = ScenarioErrorCode | InternalCode | AuthorCode;

/** A text that an author wrote as a code: in `fail`, or in a test as the answer of a server. */
export function authorCode(code: string): AuthorCode {
  return code as AuthorCode;
}
