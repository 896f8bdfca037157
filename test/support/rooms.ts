/** The rooms of the project with their content and permitted imports. The table in docs/architecture.md is generated from them. */

export interface Room {
  /** One sentence without a full stop, in Markdown. */
  readonly holds: string;
  /** Rooms it may import in addition to the common ones; `everything` for a room that composes others. */
  readonly mayImport: readonly string[] | 'everything';
  /** Any room may import it. */
  readonly common?: true;
  /** Of the common rooms, it may import only those in `mayImport`. */
  readonly alone?: true;
  /** Doors besides `index.ts`, for a part that is of use alone. */
  readonly doors?: readonly string[];
}

export const ROOMS: Readonly<Record<string, Room>> = {
  'runtime/node': {
    holds:
      'the composition root: configuration in, a running node out. One `open…` a part, which returns what it opened and how it closes; `late.ts` names the parts that earlier parts call',
    mayImport: 'everything',
  },
  'runtime/cli': { holds: 'the `ringmaster` commands', mayImport: 'everything' },
  'runtime/config': { holds: 'settings from the environment', mayImport: [] },
  'runtime/language': {
    holds: 'what authors write: scenario files, the checker, expressions, the checked program',
    mayImport: ['runtime/sandbox'],
  },
  'runtime/runs': {
    holds:
      'a program at work: runs, the call as a scenario sees it (`call-port.ts`), what else runs may use (`ports/`), what starts runs',
    mayImport: ['runtime/language', 'runtime/sandbox'],
  },
  'runtime/workbench': {
    holds: 'what authors use, and a node loads when one asks: simulation, tests, traces as tests, drawings, schemas',
    mayImport: ['runtime/language', 'runtime/runs', 'runtime/sandbox'],
  },
  'runtime/sandbox': { holds: 'scripts in isolates, in worker processes apart from everything else', mayImport: [] },
  'runtime/switch': {
    holds: 'the b2b role: registrar, routing, dialogs, legs, forking, hold, transfer',
    mayImport: [
      'runtime/signalling',
      'runtime/media',
      'runtime/callstore',
      'runtime/conference',
      'runtime/domain',
      'runtime/language',
      'runtime/runs',
      'runtime/stir',
    ],
  },
  'runtime/conference': {
    holds: 'the conf role: conferences, participants, who hears whom',
    mayImport: ['runtime/signalling', 'runtime/media', 'runtime/callstore', 'runtime/domain'],
  },
  'runtime/operations': {
    holds: 'what REST callers and scenarios can ask of live calls and conferences: one definition an operation',
    mayImport: ['runtime/callstore', 'runtime/conference', 'runtime/domain', 'runtime/language', 'runtime/runs'],
  },
  'runtime/callstore': { holds: 'the live dialogs and conferences, and how to find them', mayImport: [] },
  'runtime/cluster': {
    holds:
      'several nodes as one system over NATS: who is there, requests from node to node, shared contacts, calls, operations, events and limits; loaded where the settings ask for it',
    mayImport: [
      'runtime/callstore',
      'runtime/domain',
      'runtime/events',
      'runtime/idempotency',
      'runtime/language',
      'runtime/model',
      'runtime/operations',
      'runtime/rate',
      'runtime/runs',
      'runtime/storage',
    ],
  },
  'runtime/signalling': { holds: 'SIP through drachtio-srf', mayImport: [] },
  'runtime/ladder': {
    holds: 'the SIP messages of the last hour, for ladder diagrams and for a capture server',
    mayImport: ['runtime/callstore', 'runtime/signalling'],
  },
  'runtime/media': { holds: 'endpoints through drachtio-fsmrf', mayImport: [] },
  'runtime/domain': {
    holds:
      'domains, sipusers, featurecodes, routes and the like, registered contacts; selected by the filters of the data model',
    mayImport: ['runtime/storage', 'runtime/model'],
  },
  'runtime/script-store': {
    holds: 'scenarios kept in the domain: from a code to the program that a run gets',
    mayImport: [
      'runtime/storage',
      'runtime/domain',
      'runtime/iam',
      'runtime/language',
      'runtime/runs',
      'runtime/sandbox',
    ],
  },
  'runtime/iam': { holds: 'users, roles, sessions, the login ban', mayImport: ['runtime/storage', 'runtime/domain'] },
  'runtime/model': { holds: 'the dynamic data model, and filter expressions', mayImport: ['runtime/storage'] },
  'runtime/events': {
    holds: 'the event bus, the form of each event, and the selection of events',
    mayImport: ['runtime/model'],
  },
  'runtime/recording': {
    holds: 'recording of calls: rules, files, layers, the archive',
    mayImport: [
      'runtime/storage',
      'runtime/domain',
      'runtime/media',
      'runtime/model',
      'runtime/events',
      'runtime/speech',
    ],
  },
  'runtime/history': {
    holds: 'the histories of calls and of runs; a journal of calls that the database does not have yet',
    mayImport: ['runtime/callstore', 'runtime/model', 'runtime/runs', 'runtime/storage'],
  },
  'runtime/speech': {
    holds: 'speech engines, recognition of live calls, transcripts',
    mayImport: ['runtime/media', 'runtime/domain'],
  },
  'runtime/idempotency': {
    holds: 'answers to requests with an Idempotency-Key, for their repeats',
    mayImport: ['runtime/storage'],
  },
  'runtime/webhooks': {
    holds: 'events sent to servers by HTTP: the queue in the database, signatures, repeats',
    mayImport: ['runtime/domain', 'runtime/events', 'runtime/storage'],
  },
  'runtime/stir': {
    holds: 'signatures of calls (STIR/SHAKEN): PASSporTs, certificates; loaded where the settings ask for it',
    mayImport: [],
  },
  'runtime/metrics': { holds: 'figures for Prometheus', mayImport: [] },
  'runtime/prompts': {
    holds: 'sounds that scenarios play: uploaded prompts of domains, files of several kinds, URLs; conversion to WAV',
    mayImport: ['runtime/domain', 'runtime/storage'],
  },
  'runtime/voicemail': {
    holds: 'voice messages of mailboxes: their index in the database, their sound in the file store',
    mayImport: ['runtime/storage'],
  },
  'runtime/storage': {
    holds: 'PGlite or PostgreSQL, migrations; single statements past the query builder (`run`)',
    mayImport: [],
    doors: ['early.ts'],
  },
  'runtime/embedded': {
    holds: 'the embedded SIP server and media server, a part that stands alone',
    mayImport: ['runtime/samples', 'runtime/sip-facts', 'runtime/transitions', 'runtime/turns', 'runtime/wav'],
    alone: true,
    doors: ['stack/index.ts'],
  },
  'runtime/load': {
    holds: 'the load kit: phones that call at a rate, sound checked by tone, the report; no node loads it',
    mayImport: ['runtime/embedded'],
  },
  'runtime/processes': {
    holds: 'starts other programs through a small process, so that a node with calls never stands still for it',
    mayImport: [],
    common: true,
  },
  'runtime/tracing': {
    holds: 'traces of OpenTelemetry, where the environment asks for them',
    mayImport: [],
    common: true,
  },
  'runtime/sip-facts': {
    holds: 'what the SIP standards fix: reason phrases, the direction of a session description',
    mayImport: [],
    common: true,
  },
  'runtime/samples': { holds: 'arithmetic on sampled sound', mayImport: [], common: true },
  'runtime/transitions': {
    holds: 'state machines: a state changes only along its typed table',
    mayImport: [],
    common: true,
  },
  'runtime/rate': { holds: 'token buckets', mayImport: [], common: true },
  'runtime/domain-name': {
    holds: 'the type of the names of domains: made where they come in, compared with `===` everywhere else',
    mayImport: [],
    common: true,
  },
  'runtime/json-lines': { holds: 'files of JSON lines that a killed process left', mayImport: [], common: true },
  'runtime/words': {
    holds: 'words of messages: the known name nearest to an unknown one, a number and what it counts',
    mayImport: [],
    common: true,
  },
  'runtime/wav': { holds: 'the header of WAV files', mayImport: [], common: true },
  'runtime/turns': {
    holds: 'what is sent in one turn of the event loop, and leaves together',
    mayImport: [],
    common: true,
  },
  'runtime/memory': { holds: 'memory that each thread gives back when it has no calls', mayImport: [], common: true },
  components: {
    holds:
      'what a scenario can do, one folder a component; `operation/` has the page of those made from `runtime/operations`',
    mayImport: ['runtime/language', 'runtime/runs'],
  },
  'runtime/component-registry': {
    holds:
      'every component by name, the built-in ones and those of the operations; the classes of a domain for simulations, and errors of the data model as scenarios get them',
    mayImport: ['components', 'runtime/language', 'runtime/model', 'runtime/operations', 'runtime/runs'],
  },
  'components/docs': {
    holds: 'writes the pages of the components',
    mayImport: ['runtime/component-registry', 'runtime/language'],
  },
  'rest-bridge': {
    holds:
      'HTTP: parse, authorise, map to an operation or a collection, shape the answer; the pages for browsers, `phone` and `console`',
    mayImport: [
      'runtime/operations',
      'runtime/callstore',
      'runtime/iam',
      'runtime/domain',
      'runtime/model',
      'runtime/events',
      'runtime/recording',
      'runtime/language',
      'runtime/runs',
      'runtime/script-store',
      'runtime/history',
      'runtime/idempotency',
      'runtime/webhooks',
      'runtime/prompts',
      'runtime/voicemail',
    ],
  },
  'freeswitch-config': {
    holds: 'the configuration of a real pair, rendered from one sizing file',
    mayImport: ['runtime/config', 'runtime/embedded'],
  },
  test: { holds: 'the tests', mayImport: 'everything' },
};

/** The rooms as a Markdown table. */
export function roomTable(): string {
  const rows = Object.entries(ROOMS).map(([name, { holds, mayImport, common, alone }]) => {
    const rooms = mayImport === 'everything' ? 'everything' : mayImport.map((room) => room.replace('runtime/', ''));
    const list = typeof rooms === 'string' ? rooms : rooms.join(', ') || '-';
    const others = common ? '; any room may import it' : '';
    return `| \`${name}\` | ${holds}${others} | ${list}${alone ? ', and no other common room' : ''} |`;
  });
  return ['| room | what it holds | may import |', '| --- | --- | --- |', ...rows].join('\n');
}
