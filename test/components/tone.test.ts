import { expect } from 'chai';
import { play } from './support.ts';

describe('component tone', () => {
  it('plays complete rounds', async () => {
    expect(
      await play(`
      tone: { tone: busy, duration: 2500ms }
      next: end`),
    ).to.deep.include({
      exit: 'next',
      events: ['play tone:%(500,500,425) (3 times)'],
    });
  });
});
