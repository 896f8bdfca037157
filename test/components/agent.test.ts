import { expect } from 'chai';
import { play } from './support.ts';

describe('component agent', () => {
  it('makes an agent away; a later block reads it', async () => {
    const away = await play(`
      agent: { number: "102", state: away, skills: [german] }
      next: end`);
    expect(away.result).to.deep.equal({ state: 'away', status: 'away', queue: '' });
  });

  it('is ready by default', async () => {
    const { result } = await play(`
      agent: "102"
      next: end`);
    expect(result).to.include({ state: 'ready', status: 'ready' });
  });
});
