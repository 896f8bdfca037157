/** Every class and type of event with the JSON Schema of its data. OpenAPI, AsyncAPI and the checks of names are made from it. */
import { type TObject, type TProperties, Type } from 'typebox';
import { notKnown } from '../words/index.ts';
import type { NodeEvent } from './event-bus.ts';
import { isOnDemand } from './on-demand.ts';

/** One type of event. */
interface EventType {
  readonly description: string;
  /** Of `data`. Later versions may add fields. */
  readonly data: TObject;
}

interface EventClass {
  readonly description: string;
  readonly types: Readonly<Record<string, EventType>>;
  /** Types whose names scenarios choose. */
  readonly others?: EventType;
  /** Path whose GET permission reading needs; default `/api/events/<class>`. */
  readonly path?: string | ((data: NodeEvent['data']) => string);
}

/** Later versions may add fields, so schemas are open. */
const open = (properties: TProperties): TObject => Type.Object(properties, { additionalProperties: true });

const Text = (description: string) => Type.String({ description });
const Ms = (description: string) => Type.Integer({ description: `${description}, milliseconds since the epoch` });

const CALL = {
  inviteid: Text('Id of the call, unique for ever'),
  connectionid: Text('The same id, for recordings'),
  dialogid: Text('Id of the dialog in paths such as /uc/calls; empty: there is none'),
};
const LEG = { ...CALL, callid: Text('Call-ID of the side; empty: unknown') };

const Party = Type.Object(
  {
    side: Type.Optional(Type.Enum(['a', 'b'], { description: 'Absent in a conference' })),
    channel: Type.Optional(Type.Integer({ description: 'Channel of the file: 0 is left' })),
    number: Type.String(),
    login: Type.String(),
    domain: Type.String(),
    uri: Type.String(),
  },
  { additionalProperties: true },
);
const RECORD = {
  ...CALL,
  recordid: Text('Id of the recording'),
  layer: Text('Empty: the main recording; else the layer of SETUP_RECORD'),
  domain: Text('Name of the domain at the time of the call'),
  startts: Ms('Begin of the recording'),
  parties: Type.Array(Party),
};

const ROOM = {
  confid: Text('Id of the conference'),
  confroomnum: Text('Number of the room'),
  uri: Text('SIP URI of the room'),
};
const GUEST = {
  ...ROOM,
  participantid: Text('Id of the participant'),
  callid: Text('Call-ID of its side'),
  dialogid: Text('Id of its dialog; empty: it was called and did not come'),
  ruri: Text('SIP URI of the participant'),
};
const Bool = Type.Boolean();

const SPEECH = { ...LEG, layer: Text('Layer of SETUP_ASR') };

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const LastAnswer = Type.Union([
  Type.Object({ sip_status: Type.Integer(), reason: Type.String(), at: Type.String() }, { additionalProperties: true }),
  Type.Null(),
]);
const PROVIDER = {
  id: Text('Id of the provider'),
  code: Text('Its code'),
  state: Type.Enum(['registered', 'registering', 'rejected', 'unreachable', 'unregistered']),
  reachable: Type.Union([Type.Boolean(), Type.Null()], { description: 'Null while nothing was asked' }),
  since: nullable('Last change of state or reachable, ISO 8601 in UTC'),
  expires: nullable('End of the registration, ISO 8601 in UTC'),
  last_answer: LastAnswer,
};
const GATEWAY = {
  id: Text('Id of the provider'),
  code: Text('Its code'),
  gateway: Text('Name of the gateway: host:port'),
  host: Text('Its host'),
  port: Type.Integer({ description: 'Its port' }),
  transport: Text('udp or tcp'),
  reachable: Type.Union([Type.Boolean(), Type.Null()], { description: 'False: calls leave it out' }),
  since: Text('Last change of reachable, ISO 8601 in UTC'),
  retry_at: nullable('Calls leave it out until then, as it asked by Retry-After, ISO 8601 in UTC'),
  last_answer: LastAnswer,
};

/** Data of the events of calls, by type. */
export const CALL_EVENTS = {
  call_init: {
    description: 'A call began.',
    data: open({
      ...CALL,
      from: Text('SIP URI of the caller'),
      to: Text('SIP URI that was called'),
      verstat: Type.Optional(Text('Of a caller of a provider whose calls are verified: what the signature is worth')),
      attestation: Type.Optional(Text('A, B or C: what the signer of a call that passed knows of the caller')),
    }),
  },
  call_ringing: { description: 'A called party rings.', data: open(LEG) },
  call_answered: { description: 'A called party answered.', data: open(LEG) },
  call_hold: { description: 'A party holds the call.', data: open(LEG) },
  call_unhold: { description: 'A party takes the call back.', data: open(LEG) },
  call_transfer: {
    description: 'A party moved to another call; one event for each party that moves.',
    data: open({ ...CALL, new_dialogid: Text('Its new dialog'), new_inviteid: Text('Its new call') }),
  },
  call_end: {
    description: 'A call ended.',
    data: open({
      ...CALL,
      reason: Text('Why it ended'),
      side: Type.Optional(Type.Enum(['a', 'b'], { description: 'The party that hung up' })),
    }),
  },
  record_saved: {
    description: 'A recording is complete.',
    data: open({
      ...RECORD,
      reclink: Text('Where it is'),
      sha256: Text('Hash of the file'),
      length: Type.Integer({ description: 'Milliseconds of sound' }),
      size: Type.Integer({ description: 'Octets' }),
    }),
  },
  record_failed: {
    description: 'A recording failed.',
    data: open({ ...RECORD, reason: Text('Why it failed') }),
  },
} satisfies Readonly<Record<string, EventType>>;

/** Data of the events of conferences, by type. */
export const CONFERENCE_EVENTS = {
  conf_start: { description: 'The first participant is in the room.', data: open(ROOM) },
  conf_join: { description: 'A participant is in the room.', data: open({ ...GUEST, moderator: Bool }) },
  conf_leave: {
    description: 'A participant has left, or did not come.',
    data: open({
      ...GUEST,
      reason: Type.String(),
      last_response: Type.Optional(Text('SIP answer of a participant who did not come')),
    }),
  },
  conf_state: { description: 'A participant has another state.', data: open({ ...GUEST, state: Type.String() }) },
  conf_talking: { description: 'A participant begins or ends to talk.', data: open({ ...GUEST, talking: Bool }) },
  conf_muted: {
    description: 'A scenario mutes or unmutes a participant.',
    data: open({ ...GUEST, muted: Bool }),
  },
  conf_topology: {
    description: 'Commands changed who hears whom.',
    data: open({
      ...ROOM,
      changes: Type.Array(
        Type.Object({
          from: Text('Participant id of the speaker'),
          to: Text('Participant id of the listener'),
          enabled: Type.Boolean({ description: 'The speaker is heard' }),
        }),
      ),
    }),
  },
  conf_recording: {
    description: 'A recording begins or ends: of the whole conference, or of a participant.',
    data: open({
      ...ROOM,
      ...Type.Partial(Type.Object(GUEST)).properties,
      ...ROOM,
      recording: Bool,
      layer: Text('Name of the recording in the archive'),
    }),
  },
  conf_end: { description: 'The conference is over.', data: open(ROOM) },
} satisfies Readonly<Record<string, EventType>>;

const RUN = {
  id: Text('Id of the record: /api/runs/ID'),
  runid: Text('Id of the run; another one where a scenario of the record started it'),
  scenario: Text('Code of the scenario'),
  version: Text('Number of its version'),
};

/** Data of the events of runs, by type. */
export const RUN_EVENTS = {
  run_begin: {
    description: 'A run began.',
    data: open({
      ...RUN,
      callid: Text('Call-ID of its own party; empty: it has none'),
      from: Type.Optional(Text('Number of the caller')),
      to: Type.Optional(Text('The dialled number')),
    }),
  },
  block_entered: {
    description: 'A run entered a block, or a module began a function.',
    data: open({
      ...RUN,
      step: Type.Integer({ description: 'Its place in the trace, from 1' }),
      branch: Type.Enum(['main', 'finally']),
      block: Text('Name of the block, or of the function'),
      component: Text('Its component'),
    }),
  },
  run_end: {
    description: 'A run ended.',
    data: open({
      ...RUN,
      status: Type.Enum(['completed', 'ended', 'failed', 'stopped']),
      error_code: Type.Optional(Text('Of a failed run')),
      steps: Type.Integer({ description: 'Number of blocks' }),
      milliseconds: Type.Integer({ description: 'Its duration' }),
    }),
  },
} satisfies Readonly<Record<string, EventType>>;

const OPERATION_FINISHED: EventType = {
  description: 'An operation on a call ended.',
  data: open({
    ...CALL,
    id: Text('Id of the operation'),
    operation: Text('Its method, such as REFER'),
    userid: Type.Optional(Text('User who asked for it')),
    outcome: Type.String(),
    result: Text('Result of its answer'),
    fields: Type.Object({}, { additionalProperties: true, description: 'Further fields of its answer' }),
  }),
};

export const EVENT_CLASSES: Readonly<Record<string, EventClass>> = {
  callevents: {
    description: 'Calls',
    path: '/uc/calls',
    types: { ...CALL_EVENTS, operation_finished: OPERATION_FINISHED },
  },
  ccsevents: {
    description: 'Transcriptions of recordings',
    path: '/uc/calls',
    types: {
      connection_set_asr: {
        description: 'A requested transcription ended.',
        data: open({
          ...RECORD,
          reclink: Text('Where the recording is'),
          result: Type.Enum(['ok', 'error']),
          text: Type.Optional(Text('The text')),
          reason: Type.Optional(Text('Why it failed')),
        }),
      },
    },
  },
  asrevents: {
    description: 'Speech of live calls',
    path: '/uc/calls',
    types: {
      result: {
        description: 'Recognised words.',
        data: open({
          ...SPEECH,
          text: Type.String(),
          final: Type.Boolean({ description: 'False: the next result replaces it' }),
        }),
      },
      failed: { description: 'The engine gave up.', data: open({ ...SPEECH, reason: Type.String() }) },
    },
  },
  confevents: { description: 'Conferences', path: '/uc/conferences', types: CONFERENCE_EVENTS },
  runevents: { description: 'Runs of scenarios', path: '/api/runs', types: RUN_EVENTS },
  providerevents: {
    description: 'Providers (trunks)',
    path: '/domain/providers',
    types: {
      provider_state: { description: 'A provider has another state.', data: open(PROVIDER) },
      gateway_state: { description: 'A gateway of a provider is found there, or gone.', data: open(GATEWAY) },
    },
  },
  messageevents: {
    description: 'Texts between phones',
    types: {
      received: {
        description: 'A phone sent a text.',
        data: open({
          from: Text('Number of the sender'),
          fromlogin: Type.String(),
          to: Text('Number of the receiver'),
          tologin: Type.String(),
          text: Type.String(),
          status: Type.Integer({ description: 'SIP status that the sender got' }),
          delivered: Bool,
        }),
      },
    },
  },
  modelevents: {
    description: 'Changes of the data model',
    path: ({ classname }) => `/model/${typeof classname === 'string' ? classname : ''}`,
    types: {
      data_changed: {
        description: 'An entity, or a class as a whole, changed.',
        data: open({
          classname: Type.String(),
          operation: Type.Enum(['create', 'update', 'delete', 'clear', 'reload'], {
            description: '`clear`: all entities are gone; `reload`: events were lost, read anew',
          }),
          id: Type.Optional(Text('Absent when the class as a whole changed')),
          entity: Type.Optional(
            Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
              description: 'The entity after the change, of `delete` before it; null when it is not known',
            }),
          ),
        }),
      },
    },
  },
  webhookevents: {
    description: 'Tests of webhooks; only the tested webhook gets them',
    types: {
      test: {
        description: 'A test of a webhook.',
        data: open({ webhook_id: Type.String(), name: Text('Name of the webhook') }),
      },
    },
  },
  scenarioevents: {
    description: 'Events that scenarios publish',
    types: {},
    others: { description: 'An event of a scenario, which chooses its type and its data.', data: open({}) },
  },
};

/** The path whose GET permission is required for an event. */
export function pathOfEvent({ class: name, data }: Pick<NodeEvent, 'class' | 'data'>): string {
  const path = Object.hasOwn(EVENT_CLASSES, name) ? EVENT_CLASSES[name]?.path : undefined;
  return (typeof path === 'function' ? path(data) : path) ?? `/api/events/${name}`;
}

/** An event's name, `class.type`, with the schema of its data. A type `*` stands for those that scenarios choose. */
export interface NamedEvent extends EventType {
  readonly name: string;
  readonly class: string;
  readonly type: string;
}

/** Events that webhooks can get, in order of their classes. */
export function webhookEvents(): readonly NamedEvent[] {
  return namedEvents().filter((event) => !isOnDemand(event.class));
}

/** All events in order of their classes. */
export function namedEvents(): readonly NamedEvent[] {
  return Object.entries(EVENT_CLASSES).flatMap(([name, { types, others }]) => [
    ...Object.entries(types).map(([type, each]) => ({ ...each, name: `${name}.${type}`, class: name, type })),
    ...(others === undefined ? [] : [{ ...others, name: `${name}.*`, class: name, type: '*' }]),
  ]);
}

/** The mistake in a name of a webhook, `class` or `class.type`; undefined for a good one. */
export function eventNameProblem(name: string): string | undefined {
  const [first = '', ...rest] = name.split('.');
  const known = Object.hasOwn(EVENT_CLASSES, first) ? EVENT_CLASSES[first] : undefined;
  if (known === undefined) return notKnown(first, Object.keys(EVENT_CLASSES));
  if (isOnDemand(first)) return 'comes over WebSocket and Server-Sent Events only';
  const type = rest.join('.');
  if (rest.length === 0 || Object.hasOwn(known.types, type)) return undefined;
  if (known.others !== undefined) return /^[A-Za-z]\w{0,63}$/.test(type) ? undefined : 'is no name of an event';
  const types = Object.keys(known.types).map((each) => `${first}.${each}`);
  return notKnown(name, types);
}
