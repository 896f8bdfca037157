import { expect } from 'chai';
import { play } from './support.ts';

describe('component send_dtmf', () => {
  it('sends digits and pauses', async () => {
    const result = await play(`
      send_dtmf: "12,,3"
      next: end`);
    expect(result).to.deep.include({ exit: 'next', milliseconds: 2870, events: ['send digits 12', 'send digits 3'] });
  });
});
