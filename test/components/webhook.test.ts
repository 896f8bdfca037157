import { expect } from 'chai';
import { GuardedHttpClient } from '../../components/http/client.ts';
import { services as servicesWith } from '../support/scenarios.ts';
import { play } from './support.ts';

describe('component webhook', () => {
  it('leaves by error for a forbidden host', async () => {
    const asking = `
      webhook: { url: "http://127.0.0.1:1/hook", event: e }
      exits: { next: end, error: end }`;
    const services = servicesWith({ http: new GuardedHttpClient({ hosts: ['a.b'], networks: [] }) });
    expect(await play(asking, { services })).to.deep.include({ exit: 'error', error: 'http_forbidden' });
    const http = { 'POST http://127.0.0.1:1/hook': { error: 'http_forbidden' } };
    expect(await play(asking, { http })).to.deep.include({ exit: 'error', error: 'http_forbidden' });
  });

  it('continues at once, and tries three times', async () => {
    const http = { 'POST https://a.b/hook': [500, { error: 'http_failed' }, 200] };
    const waiting = `
      webhook: { url: "https://a.b/hook", event: e }
      next: end`;
    const { exit, milliseconds, events } = await play(waiting, { http });
    expect({ exit, milliseconds, events }).to.deep.equal({
      exit: 'next',
      milliseconds: 0,
      events: ['http POST https://a.b/hook'],
    });
  });
});
