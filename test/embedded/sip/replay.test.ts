import { EmbeddedSipServer } from '../../../runtime/embedded/sip/server.ts';
import { loadRecordings } from './recording.ts';
import { type ReplayOptions, replay } from './replay.ts';

/**
 * Differences from drachtio-server that are meant. Everything else in a recording is compared as it is, apart from
 * identifiers that each side makes up.
 */
const NO_TRANSPORT_IN_TO = [/^To: <([^>]+)>;transport=tcp/m, 'To: <$1>'] as const;
/** A response that the server makes up: without brackets the tag would belong to the URI as well. */
const BRACKETS_IN_TO = [/^To: (sips?:[^;\r]+)(?:;transport=tcp)?/m, 'To: <$1>'] as const;

const DIFFERENCES: Record<string, ReplayOptions> = {
  '07c-uac-answered-tcp': { edits: [NO_TRANSPORT_IN_TO] },
  '14-uac-refused-udp': { edits: [BRACKETS_IN_TO], absent: 15999, skip: ({ to }) => to?.endsWith(':15999') ?? false },
  '14b-uac-refused-tcp': { edits: [NO_TRANSPORT_IN_TO, BRACKETS_IN_TO] },
  '14c-uac-timeout-udp': { edits: [BRACKETS_IN_TO] },
  '14d-uac-unresolvable': { edits: [BRACKETS_IN_TO] },
  '14e-uac-no-transport': { edits: [BRACKETS_IN_TO] },
  '14f-uac-timeout-tcp': { edits: [NO_TRANSPORT_IN_TO, BRACKETS_IN_TO], listen: [15998] },
  // What follows the INVITE takes a hop like any other request.
  '20-proxy': { edits: [[/^((?:ACK|BYE) [\s\S]*branch=z9hG4bK\.[\s\S]*Max-Forwards: )70/, '$169']] },
  '21b-cdr-on': { server: { cdrs: true } },
  // Routes only after authentication.
  '25-raw-auth-errors': { skip: ({ on }) => on === 'app2' },
  // Unknown methods are answered (501).
  '28-raw-sip-in': { skip: ({ text }) => text?.startsWith('FOO ') ?? false },
  // The real server ends here; ours rejects the INVITE and tells the application.
  '99-100rel-in-never-pracked': { skip: ({ t, on }) => t > 32 || (on !== 'app1' && on !== 'udp'), more: true },
};

/** A loopback address of nine characters, so that port 5060 and the recorded ports are free on it. */
function someHost(): string {
  const digit = (): number => 1 + Math.floor(Math.random() * 9);
  return `127.${digit()}.${digit()}.${digit()}`;
}

describe('replay of recorded flows', function () {
  this.timeout(15_000);
  let host = '';

  before(async function () {
    host = someHost();
    try {
      const server = await EmbeddedSipServer.open({ app: '127.0.0.1:0', secret: 's', sip: [`${host}:5060`] });
      await server.close();
    } catch (error) {
      // Only Linux has the whole of 127/8 on its loopback interface.
      if (process.platform === 'linux' || process.env['RINGMASTER_REQUIRE_PEERS'] === '1') throw error;
      this.skip();
    }
  });

  for (const recording of loadRecordings()) {
    it(`${recording.name}: ${recording.flow}`, async () => {
      await replay(recording, host, DIFFERENCES[recording.name]);
    });
  }
});
