import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkText } from '../../runtime/language/checker/check-file.ts';
import { formatProblem } from '../../runtime/language/problem.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';

describe('mistakes beside a syntax error', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  async function check(text: string, file: string): Promise<string[]> {
    const compile = sandbox.compile.bind(sandbox);
    const { problems, program } = await checkText(text, { file, components, compile });
    expect(program).to.equal(undefined);
    return problems.map((problem) => formatProblem(problem).slice(file.length + 1));
  }

  const module = (body: string) => check(`export default async function (call: Call) {\n${body}\n}\n`, 'm.ts');

  it('are reported with it in a module', async () => {
    const text = `export const parameters = { agent: 'strin' };
export default async function (call: Call, args: { agent: string }) {
  await call.answr();
  const x = ;
  await call.play({ sound: 'x.wav', repeat: x });
  const y = (1;
  if (y == = 1) {
    await call.hangup();
  } else if (y > ) {
    foo();
  } else {
    return;
  }
}
`;
    expect(await check(text, 'm.ts')).to.deep.equal([
      '1:36: parameter "agent" has the unknown type "strin"; did you mean "string"?',
      '3:14: call has no "answr"; did you mean "answer"?',
      '4:13: Expression expected',
      '5:14: "call.play" lacks the setting "sounds"; e.g. sounds: \'welcome.wav\'',
      '5:21: "call.play" has no setting "sound"; did you mean "sounds"?',
      "6:15: Expected ',', got ';'",
      '7:12: Expression expected',
      '9:18: Expression expected',
      '10:5: there is no foo here',
    ]);
  });

  it('are reported with it in the script of a block', async () => {
    const text = `id: x
variables: { tries: 0 }
start: calc
blocks:
  calc:
    script:
      code: |
        const x = ;
        vars.trys = 3;
        let z = 1);
        return x + z + foo;
    next: then
  then: { log: "\${string(calc.value)}", next: nowhere }
`;
    expect(await check(text, 'x.yaml')).to.deep.equal([
      '8:19: Expression expected',
      '9:14: there is no variable "trys"; declare it under variables, or write let trys = ...',
      '10:18: Expected a semicolon',
      '11:24: there is no foo here',
      '13:47: there is no block "nowhere"; there is: calc, then, end',
    ]);
  });

  // What only seems to be wrong because of the mistake is not told.
  for (const [what, body, told] of [
    ['names that are declared there', '  const { st constatus } = 1;\n  log.info(status);', '2:14'],
    ['names that are misspelt there', '  const na)me = 1;\n  log.info(name);', '2:9'],
    ['what a statement lacks', "  await call.collect({\n    max: 1 timeout: '5s',\n  });", '3:12'],
    [
      'a comma that is missing above',
      `  await call.collect({
    timeout: '5s'
    max: 1,
  });`,
      '4:5',
    ],
    ['a line that the one above goes on in', '  const a = 1 +\n    2 3;\n  log.info(a);', '3:7'],
    ['a line that goes on below', '  const a = foo(1 2)\n    .bar();\n  log.info(a);', '2:19'],
    ['a bracket that is never closed', '  const a = [1, 2;\n  }', undefined],
    ['loops', '  fr (const a of [1]) {\n    if (a > 1) break;\n  }', undefined],
    [
      'cases',
      `  switch (1) {
    cas 1:
      log.info(1);
  }`,
      undefined,
    ],
    [
      'else',
      `  if (1) {
    log.info('a');
  } els if (2) {
    log.info('b');
  } else {
  }`,
      undefined,
    ],
  ] as const)
    it(`are not reported for ${what}`, async () => {
      const [first = '', ...more] = await module(body);
      expect(more).to.deep.equal([]);
      if (told !== undefined) expect(first.startsWith(`${told}:`), first).to.equal(true);
    });
});
