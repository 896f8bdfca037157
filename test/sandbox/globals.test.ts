import { expect } from 'chai';
import { SCRIPT_GLOBALS, type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { startScript } from './support.ts';

describe('globals of a script', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
  });
  after(() => sandbox.close());

  const LIST = 'Object.getOwnPropertyNames(globalThis)';

  it('are those that the list says, in a block and in a module', async () => {
    const block = await startScript(sandbox, { source: `return ${LIST};`, commands: [] }).finished;
    const module = {
      source: `export default () => ${LIST};`,
      kind: 'module',
      commands: ['sleep', 'call.play'],
    } as const;
    const { value } = await startScript(sandbox, module).finished;
    expect(block.value).to.have.members([...SCRIPT_GLOBALS]);
    expect(value).to.have.members([...SCRIPT_GLOBALS, 'sleep', 'call']);
  });
});
