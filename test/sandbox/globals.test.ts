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

  it('equal the list, in a block and in a module', async () => {
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

  it('include unchanged formatters, although their memory is counted', async () => {
    const source = `
      const date = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' });
      class Own extends Intl.NumberFormat {}
      const own = new Own('de');
      const words = new Intl.Segmenter('en', { granularity: 'word' });
      return [
        date.format(0), date.formatRange(0, 1e11).replaceAll(/\\s/g, ' '), Intl.DateTimeFormat('de', { timeZone: 'UTC' }).format(0),
        own.format(1234.5), own instanceof Own, date.constructor === Intl.DateTimeFormat,
        Intl.Collator.name, Intl.Collator.supportedLocalesOf(['de']), words.segment.name, words.segment.length,
        [...words.segment('ab cd')].map(({ segment }) => segment), String(words), String(new Intl.Locale('en-US').maximize()),
      ];`;
    const { value } = await startScript(sandbox, { source, commands: [] }).finished;
    expect(value).to.deep.equal([
      'Thursday, January 1, 1970',
      'Thursday, January 1, 1970 – Saturday, March 3, 1973',
      '1.1.1970',
      '1.234,5',
      true,
      true,
      'Collator',
      ['de'],
      'segment',
      1,
      ['ab', ' ', 'cd'],
      '[object Intl.Segmenter]',
      'en-Latn-US',
    ]);
  });
});
