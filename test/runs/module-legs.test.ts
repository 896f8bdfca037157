import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import { compileHere } from '../../runtime/sandbox/index.ts';

/** The mistakes of a module whose function does this. */
async function check(body: string): Promise<string[]> {
  const source = `export default async function (call: Call, args: { who: string }) {
${body}
}
`;
  const compile = async (script: Parameters<typeof compileHere>[0]) =>
    compileHere(script) ?? { ok: false as const, problems: [] };
  const { problems } = await checkText(source, { file: 'm.ts', components, compile });
  return problems
    .filter(({ severity }) => severity === undefined)
    .map(({ line, column, message, suggestion }) => `${line}:${column}: ${message}; ${suggestion}`);
}

const RING = `  await call.call({ to: '102', leg: 'agent' });\n`;

describe('checker of legs in modules', () => {
  it('finds unknown legs, with suggestions', async () => {
    expect(
      await check(`${RING}  await call.play({ sounds: 'silence:1s', leg: 'agnet' });
  await call.bridge('agents');
  await call.bridge({ with: 'agent' });
  await call.say({ text: 'x', leg: 'caller' });
  const show = async () => call.hangup({ leg: 'agent' });
  await show();`),
    ).to.deep.equal([
      '3:48: no call has the name "agnet"; did you mean "agent"?',
      '4:21: no call has the name "agents"; did you mean "agent"?',
      '6:36: no call has the name "caller"; take it out: without it a function is for the caller',
    ]);
    expect(await check(`  await call.hangup({ leg: 'agent' });`)).to.deep.equal([
      `2:28: no call has the name "agent"; write await call.call({ to: '102', leg: 'agent' }) before`,
    ]);
  });

  it('finds legs connected with themselves', async () => {
    expect(await check(`${RING}  await call.bridge({ with: 'agent', leg: 'agent' });`)).to.deep.equal([
      '3:29: "agent" cannot be connected with itself; take out leg: without it that is the caller',
    ]);
  });

  // Where somebody may be called under a name that is not written out, nothing is said.
  for (const [what, body] of [
    ['a name that is worked out', `await call.call({ to: '102', leg: args.who });`],
    ['settings that are worked out', `const settings = { to: '102', leg: 'other' }; await call.call(settings);`],
    ['settings in part', `await call.call({ ...{ leg: 'other' }, to: '102' });`],
    ['a function of its own', `const ring = call.call; await ring({ to: '102', leg: 'other' });`],
    ['the call under another name', `const other = call; await other.call({ to: '102', leg: 'other' });`],
    [
      'the call that goes elsewhere',
      `await ring(call); async function ring(c: Call) { await c.call({ leg: 'other', to: '1' }); }`,
    ],
    ['a name of a function', `await call['call']({ to: '102', leg: 'other' });`],
  ] as const)
    it(`reports nothing with ${what}`, async () => {
      expect(await check(`  ${body}\n  await call.hangup({ leg: 'other' });`)).to.deep.equal([]);
    });

  it('reports nothing for computed names', async () => {
    expect(await check(`${RING}  for (const leg of ['agent', args.who]) await call.hangup({ leg });`)).to.deep.equal(
      [],
    );
  });
});
