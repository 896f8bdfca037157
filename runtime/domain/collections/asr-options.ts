import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';

const Streams = Type.Integer({ minimum: 1, maximum: 10_000 });
const Language = Type.String({
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
  description: 'a language tag, e.g. en-US',
});
const File = Type.String({ pattern: '^(?:/[A-Za-z0-9_.-]+)+$', description: 'an absolute path' });
const Key = Type.String({ pattern: '^[\\x21-\\x7e]{1,512}$', description: 'a key without spaces' });
const ClockTime = Type.String({ pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$', description: 'a time of day, HH:MM' });

const common = { parallel_streams: Type.Optional(Streams), language: Type.Optional(Language) };

const Pocketsphinx = Type.Object(
  {
    engine: Type.Literal('pocketsphinx'),
    acoustic_model: Type.Optional(File),
    language_model: Type.Optional(File),
    dictionary: Type.Optional(File),
    ...common,
  },
  { additionalProperties: false },
);
const Vosk = Type.Object(
  {
    engine: Type.Literal('vosk'),
    url: Type.String({ pattern: '^wss?://[^\\s]+$', description: 'a WebSocket URL' }),
    api_key: Type.Optional(Key),
    ...common,
  },
  { additionalProperties: false },
);
const OpenAi = Type.Object(
  {
    engine: Type.Literal('openai'),
    url: Type.String({ pattern: '^https?://[^\\s]+$', description: 'an HTTP URL' }),
    api_key: Type.Optional(Key),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ...common,
  },
  { additionalProperties: false },
);
const SERVERS = { pocketsphinx: Pocketsphinx, vosk: Vosk, openai: OpenAi };

const AsrOptionsSchema = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    language: Type.Optional(Language),
    parallel_streams: Type.Optional(Streams),
    activity_time: Type.Optional(
      Type.Object(
        { from: ClockTime, to: ClockTime, timezone: Type.Optional(Type.String({ maxLength: 64 })) },
        { additionalProperties: false },
      ),
    ),
    servers: Type.Optional(Type.Array(Type.Object({ engine: Type.String() }), { maxItems: 100 })),
  },
  { additionalProperties: false },
);

export type AsrServer = Static<typeof Pocketsphinx> | Static<typeof Vosk> | Static<typeof OpenAi>;

/** The setting `record_asr_options` of the master domain: speech recognition (specification, "TRANSCRIBE"). */
export type AsrOptions = Omit<Static<typeof AsrOptionsSchema>, 'servers'> & {
  /** Engines, tried in this order. Absent: the engines installed on the machine. */
  readonly servers?: readonly AsrServer[];
};

/** The first mistake in the options; undefined for valid AsrOptions. */
export function asrOptionsProblem(value: unknown): string | undefined {
  const problem = firstProblem(AsrOptionsSchema, value, '');
  if (problem !== undefined) return problem;
  const { servers = [], activity_time: activity } = value as AsrOptions;
  for (const [index, server] of servers.entries()) {
    const place = `servers[${index}]`;
    if (!Object.hasOwn(SERVERS, server.engine))
      return `${place}.engine must be one of ${Object.keys(SERVERS).join(', ')}`;
    const wrong = firstProblem(SERVERS[server.engine], server, place);
    if (wrong !== undefined) return wrong;
  }
  return activity?.timezone === undefined || isTimezone(activity.timezone)
    ? undefined
    : 'activity_time.timezone must be a time zone, e.g. Europe/Berlin';
}

function firstProblem(schema: TSchema, value: unknown, place: string): string | undefined {
  const [error] = Value.Errors(schema, value);
  if (error === undefined) return undefined;
  const path = error.instancePath.split('/').slice(1);
  const where = [place, ...path].filter((part) => part !== '').join('.');
  const reason = error.keyword === 'boolean' ? 'is not known' : error.message;
  return `${where === '' ? 'it' : where} ${reason}`;
}

function isTimezone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
