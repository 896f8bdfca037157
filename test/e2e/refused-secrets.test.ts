import { expect } from 'chai';
import { Command, type Ended } from '../cli/command.ts';
import { TestNode } from '../support/node.ts';
import { freeSipPort, freeTcpPort } from '../support/ports.ts';
import {
  type MediaServerProgram,
  mediaServerProgram,
  type SipServerProgram,
  sipServerProgram,
} from '../support/server-programs.ts';

/** Milliseconds from the refusal to the end of the process; a node waits a minute for servers that do not answer. */
const AT_ONCE_MS = 10_000;

describe('a wrong secret for a server', function () {
  this.timeout(90_000);
  let sip: SipServerProgram;
  let media: MediaServerProgram;

  before(async () => {
    sip = await sipServerProgram();
    media = await mediaServerProgram();
    await Promise.all([sip.start(), media.start()]);
  });
  after(async () => {
    await Promise.all([sip.stop(), media.stop()]);
  });

  const where = ({ setting }: { readonly setting: string }) => setting.slice(0, setting.lastIndexOf(':'));
  const wrong = (server: { readonly setting: string }) => `${where(server)}:wrong`;

  async function refusedStart(env: Readonly<Record<string, string>>): Promise<Ended> {
    const command = await Command.run(['start'], {
      RINGMASTER_DRACHTIO: sip.setting,
      RINGMASTER_FREESWITCH: media.setting,
      RINGMASTER_HTTP_PORT: String(await freeTcpPort()),
      RINGMASTER_SIP_PORT: String(await freeSipPort()),
      ...env,
    });
    await command.printed(/refused the/);
    const timer = setTimeout(() => void command.terminate(), AT_ONCE_MS);
    try {
      return await command.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  it('for drachtio-server ends the start at once with one line that names the server', async () => {
    const { code, err } = await refusedStart({ RINGMASTER_DRACHTIO: wrong(sip) });
    expect(err).to.equal(
      `ringmaster: the SIP server at ${where(sip)} refused the secret; RINGMASTER_DRACHTIO must have the one of <admin> in its drachtio.conf.xml\n`,
    );
    expect(code).to.equal(1);
  });

  it('for FreeSWITCH ends the start at once with one line that names the server', async () => {
    const { code, err } = await refusedStart({ RINGMASTER_FREESWITCH: wrong(media) });
    expect(err).to.equal(
      `ringmaster: the media server at ${where(media)} refused the password; RINGMASTER_FREESWITCH must have the one of its event_socket.conf.xml\n`,
    );
    expect(code).to.equal(1);
  });

  it('for one of several servers is logged, and the node works with the others', async () => {
    const others = [await sipServerProgram(), await mediaServerProgram()] as const;
    await Promise.all(others.map((other) => other.start()));
    const node = await TestNode.start({
      env: {
        RINGMASTER_DRACHTIO: `${wrong(sip)},${others[0].setting}`,
        RINGMASTER_FREESWITCH: `${wrong(media)},${others[1].setting}`,
      },
    });
    try {
      expect((await node.health()).counts).to.include({ sip_servers: 1, media_servers: 1 });
      for (const server of [sip, media]) {
        const complaints = node.output.split('\n').filter((line) => line.includes(`${where(server)} refused the`));
        expect(complaints, node.output).to.have.length(1);
      }
    } finally {
      await node.remove();
      await Promise.all(others.map((other) => other.stop()));
    }
  });
});
