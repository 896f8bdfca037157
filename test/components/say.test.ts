import { expect } from 'chai';
import { play } from './support.ts';

describe('component say', () => {
  it('speaks, and a digit ends it', async () => {
    const result = await play(
      `
      say: { text: "Hello there", stop_digits: "1" }
      next: end`,
      {
        script: { presses: ['1'] },
      },
    );
    expect(result).to.deep.include({ exit: 'digit', result: { digit: '1' }, events: ['say Hello there', 'pressed 1'] });
  });
});
