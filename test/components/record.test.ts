import { expect } from 'chai';
import { play } from './support.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';

describe('component record', () => {
  it('ends by silence, a digit, or its limit', async () => {
    const say = { kind: 'say', text: 'x'.repeat(50) } as const;
    const by = async (settings: string, ...turns: NonNullable<CallScript['turns']>) =>
      (
        await play(
          `
      record: { beep: false${settings} }
      next: end`,
          { script: { turns } },
        )
      ).result;
    expect(await by('', say)).to.deep.include({ reason: 'silence', milliseconds: 3200 });
    expect(await by('', say, { kind: 'press', digits: '#' })).to.deep.include({ reason: 'digit', digit: '#' });
    expect(await by(', max: 3s, silence: 0s', say)).to.deep.include({ reason: 'limit', milliseconds: 3000 });
  });
});
