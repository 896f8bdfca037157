import { expect } from 'chai';
import { play } from './support.ts';

describe('component hold_music', () => {
  it('ends after its time', async () => {
    expect(
      await play(`
      hold_music: { duration: 20s }
      next: end`),
    ).to.deep.include({
      exit: 'next',
      milliseconds: 20_000,
    });
  });
});
