import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, parseDuration, type Value } from '../../runtime/language/index.ts';

export const script = defineComponent({
  name: 'script',
  summary: 'Computes something in JavaScript or TypeScript.',
  otherNames: ['js', 'javascript', 'typescript', 'code', 'eval'],
  docs: [
    'The code is the body of a function. `vars` holds the values named in `vars`, a value assigned to `vars.NAME` goes into the',
    'variable of that name, and the returned value is the result `value`. The code runs in a process of its own and can harm no',
    'call. It has no files and no network; it may take `timeout` at most. `throw new ScenarioError(code, message)` leaves by',
    '`error` with that code; other exceptions have the code `script`, an exceeded limit the code `limit`.',
  ].join('\n'),
  settings: Type.Object({
    // Literal text: `${...}` in it is JavaScript.
    code: Type.String({
      minLength: 1,
      maxLength: 131_072,
      examples: ['return 1 + 1;'],
      description: 'The body of an async function.',
      'x-setting': 'script',
    }),
    vars: Type.Optional(
      Type.Record(Type.String(), Type.Any(), {
        examples: [{ digits: '${ask.digits}' }],
        description: 'Values the code reads as `vars.NAME`.',
      }),
    ),
    language: Type.Enum(['js', 'ts'], { default: 'ts', description: 'TypeScript is JavaScript with types.' }),
    timeout: Duration({ default: '5s', examples: ['5s'], description: 'How long it may take.' }),
  }),
  shorthand: 'code',
  exits: { next: { description: 'The code came to its end.' } },
  results: { value: { type: 'any', description: 'What the code returned.' } },
  assigns: ({ code }, variable) => mayAssign(String(code), variable),
  derives: true,
  authorCodes: 'any',
  method: false,
  run: async (context, { code, vars: given, language, timeout }) => {
    const vars = (given ?? {}) as Record<string, Value>;
    const wallMs = parseDuration(timeout);
    const { signal } = context;
    const timed = wallMs === undefined ? {} : { wallMs };
    const result = await context.script.run({ source: code, format: language, vars, signal, ...timed });
    return { exit: 'next', fields: { value: result.value }, assign: changed(vars, result.vars) };
  },
});

/** True when the code names the variable, or uses `vars` as a whole. */
function mayAssign(code: string, variable: string): boolean {
  return new RegExp(`\\b${variable}\\b`).test(code) || /\bvars\b(?!\s*\??\.\s*[A-Za-z_$])/.test(code);
}

function changed(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value)));
}
