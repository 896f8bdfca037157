import { expect } from 'chai';
import { silentLog } from '../support/log.ts';
import { play } from './support.ts';

describe('component retrieve', () => {
  it('leaves by unknown for a slot without a parked call, and logs its number', async () => {
    const said: object[] = [];
    const log = { ...silentLog, warn: (details: object) => void said.push(details) };
    const found = await play(
      `
      retrieve: "709"
      exits: { empty: end }`,
      { log },
    );
    expect(found).to.deep.include({ exit: 'unknown' });
    expect(found.result).to.deep.include({ status: 404, last_response: 'SIP/2.0 404 Not Found' });
    const text = 'retrieve: nobody is parked in slot 709 of simulation';
    expect(said[0]).to.deep.include({ text });
  });
});
