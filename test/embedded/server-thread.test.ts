import { once } from 'node:events';
import { tmpdir } from 'node:os';
import process from 'node:process';
import { expect } from 'chai';
import { type RunProgram, type ServerHost, startMediaServer, startSipServer } from '../../runtime/embedded/index.ts';
import { freeUdpRange } from '../support/ports.ts';

const KINDS = [
  {
    title: 'embedded SIP server',
    start: (host: ServerHost, address = '127.0.0.1:0') =>
      startSipServer({ app: address, secret: 's', sip: ['127.0.0.1:0'] }, host),
  },
  {
    title: 'embedded media server',
    start: async (host: ServerHost, address = '127.0.0.1:0') => {
      const folders = { sounds: tmpdir(), recordings: tmpdir() };
      const rtpPorts = await freeUdpRange(10);
      const options = { eventSocket: address, password: 'x', media: '127.0.0.1:0', profile: 'p', rtpPorts, ...folders };
      return startMediaServer(options, host);
    },
  },
];

for (const { title, start } of KINDS) {
  describe(`${title}: its thread`, () => {
    it('loads the module for memory at rest and reports whether there are calls', async () => {
      const channel = new BroadcastChannel('at-rest');
      try {
        const told = once(channel, 'message') as Promise<[MessageEvent]>;
        const server = await start({ atRest: new URL('./at-rest-module.ts', import.meta.url) });
        const [{ data }] = await told;
        expect(data).to.deep.equal({ works: false });
        await server.close();
      } finally {
        channel.close();
      }
    });

    it('does not start when the module for memory at rest is missing', async () => {
      const atRest = new URL('./no-such-module.ts', import.meta.url);
      const error = await start({ atRest }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error).with.property('code', 'ERR_MODULE_NOT_FOUND');
    });

    it('refuses an invalid address with a RangeError', async () => {
      const error = await start({}, 'nowhere').catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RangeError);
    });

    it('rejects requests after its end', async () => {
      const server = await start({});
      await server.close();
      expect(await server.exited).to.equal(undefined);
      const error = await server.stats().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error).with.property('message', `${title}: thread has ended`);
    });
  });
}

describe('embedded media server: its child processes', () => {
  it('end with its thread', async function () {
    // On other systems the thread starts no program by itself.
    if (process.platform !== 'linux') this.skip();
    const [, media] = KINDS;
    const aborted = Promise.withResolvers<void>();
    const run: RunProgram = (_work, signal) => {
      const output = Promise.withResolvers<undefined>();
      signal.addEventListener('abort', () => {
        aborted.resolve();
        output.resolve(undefined);
      });
      return output.promise;
    };
    const server = await (media as (typeof KINDS)[number]).start({ run });
    await server.close();
    await aborted.promise;
  });
});
