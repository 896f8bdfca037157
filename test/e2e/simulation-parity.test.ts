import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { classesFrom } from '../../runtime/cli/simulated-classes.ts';
import { selectEntities } from '../../runtime/component-registry/index.ts';
import type { SimulatedClasses } from '../../runtime/workbench/simulation/simulated-model.ts';
import { ReplayError } from '../../runtime/workbench/trace/replayable.ts';
import { verifiedTest } from '../../runtime/workbench/trace/verified-test.ts';
import { checkFile } from '../../runtime/language/checker/check-file.ts';
import type { Program } from '../../runtime/language/program.ts';
import type { TraceEntry } from '../../runtime/runs/run/trace.ts';
import type { RunView } from '../../runtime/runs/run-view.ts';
import { type PhoneScript, readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { CHARACTER_MS } from '../../runtime/workbench/simulation/simulated-party.ts';
import { readAgent, type SimulatedAgent } from '../../runtime/workbench/simulation/simulated-agents.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import type { Turn } from '../../runtime/workbench/simulation/turns.ts';
import type { Value } from '../../runtime/language/values.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import { beep, joined, noise, quiet } from '../media/machine-detection/support.ts';
import { speechPeers, spoken, WORDS } from '../speech/support/spoken.ts';
import { runsOf } from '../support/runs.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

/**
 * Actions of the caller, each with its milliseconds since the previous one: pressed keys, spoken words, `~` for a second of
 * sound, `-` for a hang-up, `(` and `)` for hold and its end.
 */
type Deeds = readonly (readonly [after: number, deed: string])[];

interface Parity {
  readonly what: string;
  /** `.ts` for modules; further scenarios by id. */
  readonly source: string;
  readonly format?: 'ts';
  readonly others?: Readonly<Record<string, string>>;
  readonly deeds?: Deeds;
  /** Recognises or speaks with this machine's engine. */
  readonly speech?: boolean;
  /** Classes of the domain. */
  readonly classes?: readonly object[];
  /** The scenario does not answer the caller. */
  readonly unanswered?: true;
  /** Agents of queues in the simulation; the real ones talk to Dave by the scenario `parity_line`. */
  readonly agents?: Readonly<Record<string, string>>;
  /** Bob's and Carol's behaviour when they are called. */
  readonly bob?: string;
  readonly carol?: string;
  /** Answers of servers and operations in the simulation. */
  readonly http?: Readonly<Record<string, Value>>;
  readonly operations?: Readonly<Record<string, Value>>;
  /** Why no test can be made of the run. */
  readonly refused?: string;
}

/** Asks a called party whether it takes the call. */
const ACCEPT = `start: a
blocks:
  a: { menu: { prompt: "tone:%(8000,0,400)", tries: 1, timeout: 5s }, exits: { 1: b, 2: c, failed: c } }
  b: { return: true }
  c: { return: false }`;

/** Prompts interrupted by speech. */
const PROMPT_HZ = 400;
const SOUND = '~';
const HOLD = '(';
const RESUME = ')';
/** Duration of a sound of the caller. */
const SOUND_MS = 1020;

const CASES: readonly Parity[] = [
  {
    what: 'digits that end by a terminator, a timeout, and their number',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { collect: { prompt: "silence:300ms", max: 4, terminators: "#" }, exits: { next: c, timeout: c } }
  c: { collect: { max: 4, timeout: 3s, digit_timeout: 700ms }, exits: { next: d, timeout: d } }
  d: { collect: { max: 2, timeout: 3s }, exits: { next: e, timeout: e } }
  e: { collect: { max: 2, timeout: 400ms }, exits: { next: end, timeout: end } }`,
    deeds: [
      [500, '12#'],
      [400, '3'],
      [1500, '45'],
    ],
  },
  {
    what: 'digits typed ahead, which are no stop digits',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { menu: { prompt: "silence:2s" }, exits: { 1: w, failed: end } }
  w: { wait: 1200ms, next: c }
  c: { play: { sounds: "silence:800ms", stop_digits: "0123456789" }, exits: { next: d, digit: d } }
  d: { menu: { prompt: "silence:2s" }, exits: { 2: e, failed: end } }
  e: { play: { sounds: "silence:3s", stop_digits: "7" }, exits: { next: end, digit: end } }`,
    deeds: [
      [600, '12'],
      [3000, '7'],
    ],
  },
  {
    what: 'a menu with wrong keys and silence',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { menu: { prompt: "silence:300ms", invalid: "silence:200ms", timeout: 800ms, tries: 3 }, exits: { 1: end, failed: c } }
  c: { log: "tries \${b.tries} key \${b.digit}", next: end }`,
    deeds: [[500, '9']],
  },
  {
    what: 'interrupts by a key, and by time while music plays',
    source: `on: { dtmf: { 0: zero }, after: { 2500ms: late } }
start: a
blocks:
  a: { answer: , next: b }
  b: { hold_music: , next: end }
  zero: { log: "\${event.kind} \${event.name}", next: c }
  c: { wait: 1h, next: end }
  late: { log: "\${event.kind} \${event.name}", next: end }`,
    deeds: [
      [500, '5'],
      [500, '0'],
    ],
  },
  {
    what: 'a hang-up during a block, with finally and its variables',
    source: `finally: f
start: a
blocks:
  a: { answer: , next: b }
  b: { play: "silence:1h", next: end }
  f: { if: call.state == "ended", exits: { then: g, else: end } }
  g: { log: "\${call.ended_by}", next: end }`,
    deeds: [[800, '-']],
  },
  {
    what: 'a hang-up handled by the main branch',
    source: `on: { hangup: h }
finally: f
start: a
blocks:
  a: { answer: , next: b }
  b: { wait: 1h, next: end }
  h: { wait: 200ms, next: end }
  f: { log: "\${call.ended_by}", next: end }`,
    deeds: [[700, '-']],
  },
  {
    what: 'a recording that a key ends, and one that the limit ends',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { record: { max: 20s, silence: 0s, beep: false }, next: c }
  c: { record: { max: 1s, silence: 0s, beep: false }, next: d }
  d: { play: "\${b.recording}", next: end }`,
    deeds: [[900, '#']],
  },
  {
    what: 'a recording in which the caller hangs up',
    source: `finally: f
start: a
blocks:
  a: { answer: , next: b }
  b: { record: { silence: 0s, beep: false }, next: end }
  f: { log: "\${b.reason} \${b.milliseconds > 500}", next: end }`,
    deeds: [[1200, '-']],
  },
  {
    what: 'a transfer that is answered',
    source: `finally: f
start: a
blocks:
  a: { answer: , next: b }
  b: { refer: { to: "102" }, exits: { refused: end } }
  f: { log: "\${call.state}", next: end }`,
    bob: 'answers after 500ms, hangs up after 700ms',
  },
  {
    what: 'transfers that are refused: busy, declined, no answer',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { loop: { times: 2 }, exits: { each: c, done: end } }
  c: { refer: { to: "102", timeout: 1s }, exits: { answered: end, busy: d, no_answer: e, refused: e } }
  d: { log: busy, next: b }
  e: { log: refused, next: b }`,
    bob: 'busy',
  },
  {
    what: 'a hunt group in which nobody answers',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "199"], timeout: 700ms, rounds: 1 }, exits: { failed: c } }
  c: { log: "\${b.tried}", next: end }`,
    bob: 'no answer',
  },
  {
    what: 'entities of a class: unset properties, a wrong type, an unknown property and an unknown class',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { model_write: { class: parity_notes, entity: { text: one } }, next: c }
  c: { model_list: { class: parity_notes, filter: { text: one }, order: [count] }, exits: { next: d, empty: end } }
  d: { log: "\${c.entities[0].count == null} \${c.count}", next: e }
  e: { model_write: { class: parity_notes, id: "\${b.id}", entity: { count: many } }, exits: { next: end, error: f } }
  f: { log: "\${error.code} \${error.message}", next: g }
  g: { model_list: { class: parity_notes, filter: { colour: red } }, exits: { next: end, empty: end, error: h } }
  h: { log: "\${error.code} \${error.message}", next: i }
  i: { model_list: { class: parity_note }, exits: { next: end, empty: end, error: j } }
  j: { log: "\${error.code} \${error.message}", next: k }
  k: { model_write: { class: parity_notes, id: "\${b.id}", remove: true }, next: end }`,
    classes: [
      {
        classname: 'parity_notes',
        storage_mode: 'category',
        properties: [
          { name: 'text', data_type: 'string' },
          { name: 'count', data_type: 'integer' },
        ],
      },
    ],
  },
  {
    what: 'a hunt group whose second member answers',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "103"], timeout: 5s }, exits: { answered: end, failed: end } }`,
    bob: 'declines after 300ms',
    carol: 'answers after 400ms, hangs up after 500ms',
  },
  {
    what: 'a hunt group that rings all at once, and one answers',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 5s }, exits: { answered: end, failed: end } }`,
    bob: '486',
    carol: 'answers after 600ms, hangs up after 500ms',
  },
  {
    what: 'a hunt group that rings all at once, and all refuse',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 5s }, exits: { failed: c } }
  c: { log: "\${b.tried} \${b.status}", next: end }`,
    bob: 'declines after 200ms',
    carol: 'declines after 700ms',
  },
  {
    what: 'a screened call that is connected, and that the called phone ends',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102", timeout: 5s, sounds: "tone:%(500,0,700)", pre_answer: parity_accept }, leg: bob, exits: { answered: c, refused: end } }
  c: { bridge: bob, exits: { ended: d } }
  d: { play: "tone:%(500,0,1700)", next: end }`,
    others: { parity_accept: ACCEPT },
    bob: 'answers after 200ms, presses 1, hangs up after 500ms',
  },
  {
    what: 'a screened hunt group: one declines, another accepts',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 5s, pre_answer: parity_accept }, exits: { failed: end } }`,
    others: { parity_accept: ACCEPT },
    bob: 'answers after 200ms, presses 2',
    carol: 'answers after 900ms, presses 1, hangs up after 500ms',
  },
  {
    what: 'a screened hunt group in which nobody accepts, one after another',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { hunt: { members: ["102", "103"], timeout: 5s, pre_answer: parity_accept }, exits: { failed: c } }
  c: { log: "\${b.tried} \${b.status}", next: end }`,
    others: { parity_accept: ACCEPT },
    bob: 'answers after 200ms, presses 2',
    carol: '486 after 300ms',
  },
  {
    what: 'a hunt group for a caller who is not answered yet',
    unanswered: true,
    source: `finally: f
start: a
blocks:
  a: { hunt: { members: ["102", "103"], timeout: 5s }, exits: { failed: end } }
  f: { log: "\${call.state} \${call.ended_by}", next: end }`,
    bob: '486 after 100ms',
    carol: 'answers after 400ms, hangs up after 500ms',
  },
  {
    what: 'a hunt group in which nobody answers a caller who is not answered yet',
    unanswered: true,
    source: `start: a
blocks:
  a: { hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 5s }, exits: { failed: b } }
  b: { log: "\${call.state} \${a.status}", next: end }`,
    bob: '486 after 100ms',
    carol: '480 after 300ms',
  },
  {
    what: 'a caller who is not answered yet and hangs up while a hunt group rings',
    unanswered: true,
    source: `finally: f
start: a
blocks:
  a: { hunt: { members: ["102", "103"], strategy: all_at_once, timeout: 5s }, exits: { failed: b } }
  b: { answer: , next: end }
  f: { log: "\${call.state} \${call.ended_by}", next: end }`,
    bob: 'no answer',
    carol: 'no answer',
    deeds: [[600, '-']],
  },
  {
    what: 'a queue with an agent, who hangs up',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { queue: { name: parity_agents, agents: ["102"], ring: 5s, max: 1m }, exits: { served: c, timeout: end } }
  c: { log: "\${b.agent} \${b.length}", next: end }`,
    bob: 'answers after 300ms, hangs up after 700ms',
  },
  {
    what: 'a queue whose agent is asked first',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { queue: { name: parity_agents, agents: ["102"], ring: 5s, max: 1m, pre_answer: parity_accept }, exits: { served: end, timeout: end } }`,
    others: { parity_accept: ACCEPT },
    bob: 'answers after 300ms, presses 1, hangs up after 700ms',
  },
  {
    what: 'a supervisor of an agent without a caller',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { supervise: "103", exits: { idle: c, ended: end } }
  c: { log: idle, next: end }`,
  },
  {
    what: 'a supervisor who listens, and ends it by a key',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { supervise: "102", exits: { idle: end, ended: c } }
  c: { log: ended, next: end }`,
    agents: { 102: 'talks 30s' },
    deeds: [[800, '*']],
  },
  {
    what: 'a person, and a machine with a beep',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102" }, leg: one, exits: { answered: c, refused: end } }
  c: { detect_machine: end_of_greeting, leg: one, exits: { human: d, machine: end } }
  d: { call: { to: "103" }, leg: two, exits: { answered: e, refused: end } }
  e: { detect_machine: end_of_greeting, leg: two, exits: { human: end, machine: f } }
  f: { log: "\${c.result} \${e.result} \${e.end}", next: end }`,
    bob: 'answers after 100ms, says hello',
    carol: 'answers after 100ms, says "nobody is here, speak after the tone", beeps',
  },
  {
    what: 'phones that refuse a leg and a transfer',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102", caller_id: "100" }, leg: x, exits: { answered: end, busy: c, no_answer: end, refused: end } }
  c: { refer: { to: "103" }, exits: { answered: end, refused: d } }
  d: { log: "\${b.status} \${c.status}", next: end }`,
    bob: '486 after 400ms',
    carol: '480 after 300ms',
  },
  {
    what: 'a recording that silence ends after sound, and one without any',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { record: { max: 20s, silence: 1s, beep: false }, next: c }
  c: { record: { max: 20s, silence: 1s, beep: false }, next: d }
  d: { log: "\${b.reason} \${b.milliseconds > 500} \${c.reason} \${c.milliseconds < 500}", next: end }`,
    deeds: [[300, '~']],
  },
  {
    what: 'a further leg, a bridge, and the caller afterwards',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102", caller_id: "100" }, leg: agent, exits: { answered: c, refused: end } }
  c: { bridge: agent, exits: { ended: d } }
  d: { menu: { prompt: "silence:3s", tries: 1 }, exits: { 5: end, failed: end } }`,
    bob: 'answers after 300ms, hangs up after 800ms',
    deeds: [[2300, '5']],
  },
  {
    what: 'a scenario as a function, its error, and one in parallel',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { run: { scenario: parity_ask, args: { max: 1 } }, next: c }
  c: { run: parity_fails, exits: { next: end, error: d } }
  d: { run: { scenario: parity_beside, mode: parallel, args: { to: "\${scenario.run}" } }, next: e }
  e: { receive: { message: hello, timeout: 2s }, exits: { next: f, timeout: end } }
  f: { await_run: "\${d.run}", exits: { next: g, timeout: end } }
  g: { return: "\${string(b.value)} \${error.code} \${string(e.data)} \${string(f.value)}" }`,
    others: {
      parity_ask: `parameters: { max: integer }
start: a
blocks:
  a: { collect: { max: "\${max}" }, exits: { next: b, timeout: b } }
  b: { return: "\${a.digits}" }`,
      parity_fails: 'start: a\nblocks:\n  a: { fail: { code: sorry, message: no } }',
      parity_beside: `parameters: { to: string }
start: a
blocks:
  a: { send: { to: "\${to}", message: hello, data: 7 }, next: b }
  b: { return: done }`,
    },
    deeds: [[600, '4']],
  },
  {
    what: 'events, loops, scripts and errors',
    source: `variables: { sum: 0 }
start: a
blocks:
  a: { answer: , next: b }
  b: { loop: { over: [1, 2, 3] }, exits: { each: c, done: d } }
  c: { script: { vars: { item: "\${b.item}", so: "\${sum}" }, code: "vars.sum = vars.so + vars.item; return vars.item * 2;" }, next: b }
  d: { publish: { event: parity_event, data: { sum: "\${sum}" } }, next: e }
  e: { wait_event: { event: parity_event, timeout: 300ms }, exits: { next: end, timeout: f } }
  f: { play: "\${'recording:none.wav'}", exits: { next: end, error: h } }
  h: { switch: "\${sum}", exits: { 6: i, else: end } }
  i: { fail: { code: mine }, exits: { error: end } }`,
  },
  {
    what: 'a queue without other callers',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { queue: { name: parity, announce: 1s, max: 2s }, exits: { turn: c, announce: end, timeout: end } }
  c: { hunt: { members: ["102"], timeout: 600ms }, exits: { failed: d } }
  d: { hold_music: { duration: 300ms }, next: e }
  e: { log: "\${b.position} of \${b.length}", next: end }`,
    bob: 'no answer',
  },
  {
    what: 'a parking slot with a timeout, an empty slot, and a conference',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { park: { slot: "741", timeout: 400ms }, exits: { timeout: c } }
  c: { retrieve: { slot: "742" }, exits: { retrieved: end, empty: d, unknown: d } }
  d: { conference: { room: "61" }, exits: { refused: end } }`,
    deeds: [[1500, '-']],
  },
  {
    what: 'requests within the call',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { send_sip: { method: MESSAGE, body: hello }, exits: { next: c, refused: end } }
  c: { send_sip: { method: INFO, body: "a=1" }, exits: { next: end, refused: end } }`,
  },
  {
    what: 'a forbidden HTTP server, and operations',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { http: "http://127.0.0.1:1/x", exits: { next: end, error: c } }
  c: { operation.lookup: { from: "199" }, exits: { next: d, error: d } }
  d: { log: "\${error.code}", next: e }
  e: { operation.delete: { dialogid: none }, exits: { next: end, error: f } }
  f: { log: "\${error.code}", next: end }`,
    http: { 'GET http://127.0.0.1:1/x': { error: 'http_forbidden' } },
    operations: { lookup: { error: 'dialog_not_found' }, delete: { error: 'dialog_not_found' } },
  },
  {
    what: 'recognised words, and silence',
    speech: true,
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { recognise: { prompt: "tone:%(8000,0,${PROMPT_HZ})", hints: [${WORDS.join(', ')}], silence: 600ms }, exits: { heard: c, silence: end } }
  c: { switch: "\${b.text}", exits: { weather: d, else: end } }
  d: { recognise: { timeout: 500ms }, exits: { heard: end, silence: e } }
  e: { return: "\${b.text}\${d.text}" }`,
    deeds: [[500, 'weather']],
  },
  {
    what: 'words recognised in a module, and silence',
    speech: true,
    format: 'ts',
    source: `export default async function (call: Call) {
  await call.answer();
  const hints = ['${WORDS.join("', '")}'];
  const first = await call.recognise({ prompt: 'tone:%(8000,0,${PROMPT_HZ})', hints, silence: '600ms' });
  const second = await call.recognise({ timeout: '500ms' });
  return [first.exit, first.text, second.exit, second.text];
}`,
    deeds: [[500, 'weather']],
  },
  {
    what: 'a module with digits, music, a transfer, a recording and errors',
    format: 'ts',
    source: `export const parameters = { owner: { type: 'string', default: '102' } };
export default async function (call: Call, { owner }: { owner: string }) {
  await call.answer();
  const keys: string[] = [];
  const stop = events.on('dtmf', ({ digit }) => { keys.push(digit); music.cancel(); });
  const music = call.holdMusic();
  await music.catch(() => undefined);
  stop();
  const { digits } = await call.collect({ max: 2, digit_timeout: '600ms' });
  const { exit } = await call.refer({ to: owner, timeout: '2s' });
  const recorded = await call.record({ max: '600ms', silence: '0s', beep: false });
  let code = '';
  try { await call.play('recording:' + 'none.wav'); } catch (error) { code = (error as ScenarioError).code; }
  try { await call.play('silence:1h'); } finally { log.info([...keys, digits, exit, recorded.reason, code].join(' ')); }
}`,
    bob: 'declines',
    deeds: [
      [600, '8'],
      [500, '3'],
      [5000, '-'],
    ],
  },
  {
    what: 'a voice message that is left, played and deleted, a phrase and a text',
    speech: true,
    source: `language: de
start: a
blocks:
  a: { answer: , next: b }
  b: { record: { max: 20s, silence: 0s, stop_digits: "#", beep: false }, next: c }
  c: { mailbox: { mailbox: parity_box, action: deposit, recording: "\${b.recording}" }, next: told }
  told: { report: { fields: { message: "\${c.message}" } }, next: d }
  d: { mailbox: { mailbox: parity_box, action: next }, exits: { next: e, empty: end } }
  e: { mailbox: { mailbox: parity_box, action: delete, message: "\${d.message}" }, next: f }
  f: { phrase: { value: 12.5, as: money, currency: EUR }, exits: { next: g, error: g } }
  g: { log: "\${d.new} \${e.new} \${format(1234.5)} \${scenario.language}", next: h }
  h: { send_message: { from: "100", to: "101", text: done }, exits: { delivered: end, refused: end, unreachable: end } }`,
    deeds: [[900, '#']],
  },
  {
    what: 'a failure, and the fallback scenario that has the call then',
    source: `fallback: parity_instead
finally: f
start: a
blocks:
  a: { answer: , next: b }
  b: { fail: { code: broken, message: by hand } }
  f: { log: "\${error.code} \${error.block}", next: end }`,
    others: {
      parity_instead: `start: a
blocks:
  a: { collect: { max: 1, timeout: 5s }, exits: { next: end, timeout: end } }`,
    },
    deeds: [[900, '7']],
  },
  {
    what: 'hold and resume by the phone',
    source: `on: { hold: held }
start: a
blocks:
  a: { answer: , next: b }
  b: { wait: 1h, next: end }
  held: { log: "\${event.kind}", next: c }
  c: { collect: { max: 1, timeout: 5s }, exits: { next: end, timeout: end } }`,
    deeds: [
      [500, HOLD],
      [500, RESUME],
      [400, '4'],
    ],
  },
  {
    what: 'a sensitive answer, of which no test is made',
    source: `start: a
blocks:
  a: { answer: , next: b }
  b: { collect: { max: 4, timeout: 5s, sensitive: true }, exits: { next: c, timeout: end } }
  c: { if: b.digits == "1234", exits: { then: d, else: end } }
  d: { log: "the PIN \${b.digits} is right", next: end }`,
    deeds: [[500, '1234']],
    refused: 'block b: its answer is sensitive',
  },
];

/** Values that differ from run to run. */
const VOLATILE =
  /^(id|entities|run|recording|message|sound|at|from_name|milliseconds|talked|(silence|greeting)_ms|words|cause|callid|dialogid|confid|participantid|seq|from)$/;

describe('a scenario does the same in a simulation and on a real call', () => {
  const stage = useStage();
  let sandbox: Sandbox;
  let folder: string;

  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
    folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
  });
  after(() => sandbox.close());

  CASES.forEach((parity, index) => {
    it(parity.what, async function () {
      if (parity.speech === true && !speechPeers()) this.skip();
      const id = `parity_${index}`;
      const file = join(folder, `${id}.${parity.format ?? 'yaml'}`);
      await writeFile(file, parity.format ? parity.source : `id: ${id}\n${parity.source}\n`);
      for (const [name, text] of Object.entries(parity.others ?? {}))
        await writeFile(join(folder, `${name}.yaml`), `id: ${name}\n${text}\n`);
      for (const each of parity.classes ?? []) {
        const { status } = await (await stage.rest()).send('POST', '/rest/v1/domain/classes', { body: each });
        expect(status).to.equal(200);
      }
      const [simulated, real] = await Promise.all([simulatedRun(file, parity), called(id, parity)]);
      expect(real).to.deep.equal(simulated);
    });
  });

  /** Those of the node. */
  async function classes(): Promise<SimulatedClasses | undefined> {
    return await classesFrom(stage.node.base)('');
  }

  async function simulatedRun(
    file: string,
    { deeds = [], bob, carol, http = {}, operations = {}, agents = {} }: Parity,
  ) {
    const { program, problems } = await checkFile({ file, components, compile: (source) => sandbox.compile(source) });
    expect(problems).to.deep.equal([]);
    const simulation = await simulate(program as Program, {
      components,
      openSandbox: async () => sandbox,
      select: selectEntities,
      classes: await classes(),
      http,
      operations,
      agents: Object.fromEntries(
        Object.entries(agents).map(([number, text]) => [number, readAgent(text) as SimulatedAgent]),
      ),
      script: {
        from: '101',
        turns: deeds.map(([after, deed]): Turn => {
          if (deed === '-') return { kind: 'hang_up', after };
          if (deed === HOLD || deed === RESUME) return { kind: deed === HOLD ? 'hold' : 'unhold', after };
          if (deed === SOUND) return { kind: 'say', text: 'x'.repeat(SOUND_MS / CHARACTER_MS), after };
          return isWord(deed) ? { kind: 'say', text: deed, after } : { kind: 'press', digits: deed, after };
        }),
        hangsUpAfter: 60_000,
        phones: { ...scripted('102', bob), ...scripted('103', carol), ...scripted('199', 'unknown') },
      },
    });
    const { run, outcome } = simulation;
    return shown(run.trace, outcome.status, outcome.value);
  }

  async function called(id: string, { deeds = [], bob, carol, unanswered, agents = {}, refused }: Parity) {
    const [alice, ...others] = await stage.phones('alice', 'bob', 'carol');
    const talking = agents[102] === undefined ? undefined : await talk(others[0]);
    const caller = await alice.call(`*55${id}`);
    if (unanswered !== true) await caller.answered();
    const answering = [bob, carol].map(async (words, index) => {
      const other = others[index];
      if (words !== undefined && other !== undefined) await answer(other, words);
    });
    for (const [after, deed] of deeds) {
      await pause(after);
      if (deed === '-') await caller.hangup();
      else if (deed === HOLD) await caller.hold();
      else if (deed === RESUME) await caller.unhold();
      else if (deed === SOUND) {
        caller.play(PROMPT_HZ);
        await pause(SOUND_MS);
        caller.play(undefined);
      } else if (isWord(deed)) {
        await caller.hears(PROMPT_HZ, { withinMs: 15_000 });
        void caller.say(spoken(deed));
      } else await caller.sendDtmf(deed);
    }
    const view = await finished(id);
    await Promise.all(answering);
    await talking?.hangup();
    const made = await expectMadeTest(view).catch((error: unknown) => error);
    if (refused === undefined) expect(made).to.equal(undefined);
    else expect(made).to.be.instanceOf(ReplayError).with.property('message').that.includes(refused);
    return shown(view.trace, view.outcome?.status, view.outcome?.value);
  }

  /** Dave talks to an agent of a queue. */
  async function talk(agent: Awaited<ReturnType<typeof stage.phone>>): Promise<PhoneCall> {
    const line =
      'id: parity_line\nstart: a\nblocks:\n  a: { answer: , next: b }\n' +
      '  b: { queue: { name: parity_agents, agents: ["102"] }, exits: { served: end, timeout: end } }\n';
    await writeFile(join(folder, 'parity_line.yaml'), line);
    const dave = await stage.phone('dave');
    const caller = await dave.call('*55parity_line');
    const served = await agent.incoming();
    await served.answer();
    served.play(PROMPT_HZ);
    await caller.hears(PROMPT_HZ);
    return caller;
  }

  /** The test that is made of the run passes. @throws ReplayError */
  async function expectMadeTest(view: RunView): Promise<void> {
    const file = join(folder, view.file);
    const { program } = await checkFile({ file, components, compile: (source) => sandbox.compile(source) });
    const tools = {
      components,
      openSandbox: async () => sandbox,
      select: selectEntities,
      classes: await classes(),
    };
    await verifiedTest(view, new Map(), program as Program, tools);
  }

  /** Bob behaves like the simulated phone with the same words. */
  async function answer(phone: Awaited<ReturnType<typeof stage.phone>>, words: string): Promise<void> {
    const script = readPhone(words) ?? { answers: [] };
    const rounds = words === 'busy' ? 2 : 1;
    for (let round = 0; round < rounds; round += 1) {
      const call = await phone.incoming();
      const last = script.answers.at(-1);
      const status = last?.status ?? 180;
      if (status >= 300) call.reject(status);
      else call.ring();
      if (status !== 200) continue;
      await pause(last?.after ?? 0);
      await call.answer();
      for (const turn of script.turns ?? []) await act(call, turn);
    }
  }

  async function act(call: PhoneCall, turn: Turn): Promise<void> {
    if (turn.kind === 'hang_up') {
      await pause(turn.after);
      await call.hangup();
    } else if (turn.kind === 'press') {
      await call.hears(PROMPT_HZ);
      await call.sendDtmf(turn.digits);
    } else if (turn.kind === 'say') {
      // What listens begins a moment after the answer.
      await call.say(joined(quiet(500), noise(turn.text.length * CHARACTER_MS, 3000)));
    } else if (turn.kind === 'beep') await call.say(joined(quiet(300), beep(1000, 300)));
  }

  async function finished(id: string): Promise<RunView> {
    const rest = await stage.rest();
    return await eventually(async () => {
      const [view] = await runsOf(rest, id);
      expect(view?.outcome, 'still running').to.not.equal(undefined);
      return view as RunView;
    }, 15_000);
  }
});

function scripted(number: string, words: string | undefined): Record<string, PhoneScript> {
  const script = words === undefined ? undefined : readPhone(words);
  return script ? { [number]: script } : {};
}

function isWord(deed: string): boolean {
  return /^[a-z]{2}/.test(deed);
}

/** A run without times, ids and SIP answers, which differ between runs. */
function shown(trace: readonly TraceEntry[], status: unknown, value: unknown) {
  return {
    status,
    value: value ?? null,
    blocks: trace.map(({ block, branch, exit, result = {}, variables, interrupt, log, error }) => ({
      block: `${branch} ${block} -> ${exit ?? '?'}`,
      ...Object.fromEntries(Object.entries(result).filter(([name]) => !VOLATILE.test(name))),
      ...(variables ? { variables } : {}),
      ...(interrupt === undefined ? {} : { interrupt }),
      ...(log ? { log: log.map((line) => line.replaceAll('demo.local', 'simulation')) } : {}),
      ...(error ? { error: error.code } : {}),
    })),
  };
}
