import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect } from 'chai';
import { Command, type Ended } from '../../cli/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SIZING = new URL('../../../freeswitch-config/sizing.yaml', import.meta.url);
const PAIR = { RINGMASTER_DRACHTIO: '127.0.0.1:9022:secret', RINGMASTER_FREESWITCH: '127.0.0.1:8021:password' };
/** Of the user `nobody`, on Linux. */
const NOBODY = { user: 'nobody', uid: 65_534, gid: 65_534 };

describe('The owner of a rendered configuration', function () {
  this.timeout(60_000);
  const folder = temporaryFolder({ each: true });
  const target = join(folder, 'pair');

  async function render(args: readonly string[], sizing = readFileSync(SIZING, 'utf8')): Promise<Ended> {
    const file = join(folder, 'sizing.yaml');
    writeFileSync(file, sizing);
    return (await Command.run(['freeswitch-config', ...args, file, target], PAIR)).ended;
  }
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const ownersBelow = (path: string) =>
    new Set(
      [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, String(name)))].map((each) => {
        const { uid, gid } = statSync(each);
        return `${uid}:${gid}`;
      }),
    );
  const asRoot = (context: Mocha.Context): void => {
    if (process.getuid?.() !== 0) context.skip();
  };

  it('--owner sets the owner of files, folders and hold music, and FreeSWITCH reads and writes them under it', async function () {
    asRoot(this);
    const { code, err } = await render(['--owner', NOBODY.user]);
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect([...ownersBelow(target)]).to.deep.equal([`${NOBODY.uid}:${NOBODY.gid}`]);
    expect(modeOf(join(target, 'autoload_configs/event_socket.conf.xml'))).to.equal('600');
  });

  it("--owner may name a group other than the user's own", async function () {
    asRoot(this);
    expect((await render(['--owner', `${NOBODY.user}:root`])).code).to.equal(0);
    expect([...ownersBelow(target)]).to.deep.equal([`${NOBODY.uid}:0`]);
  });

  it('an existing folder outside of the rendered one keeps its owner', async function () {
    asRoot(this);
    const logs = join(folder, 'logs');
    mkdirSync(logs);
    chmodSync(logs, 0o755);
    const sizing = readFileSync(SIZING, 'utf8').replace('logs: log', `logs: ${logs}`);
    expect((await render(['--owner', NOBODY.user], sizing)).code).to.equal(0);
    expect([...ownersBelow(logs), modeOf(logs)]).to.deep.equal(['0:0', '755']);
  });

  it('an unknown owner is refused, and nothing is written', async () => {
    for (const [owner, complaint] of [
      ['no-such-user', 'there is no user "no-such-user"'],
      ['root:no-such-group', 'there is no group "no-such-group"'],
      [':root', 'expected USER or USER:GROUP, found ":root"'],
    ] as const) {
      const { code, err } = await render(['--owner', owner]);
      expect({ code, err }).to.deep.equal({ code: 1, err: `ringmaster: --owner: ${complaint}\n` });
      expect(existsSync(target), owner).to.equal(false);
    }
  });

  it('another owner is refused without root, and nothing is written', async function () {
    if (process.getuid?.() === 0) this.skip();
    const { code, err } = await render(['--owner', 'root']);
    expect(code).to.equal(1);
    expect(err).to.match(/^ringmaster: --owner: files cannot be given to root: .*; run it as root\n$/);
    expect(existsSync(target)).to.equal(false);
  });

  for (const [name, stored] of [
    ['log', 'its configuration with the password'],
    ['certs', 'the key of its DTLS'],
  ] as const) {
    it(`only the owner can read the folder ${name}, where FreeSWITCH stores ${stored}`, async () => {
      expect((await render([])).code).to.equal(0);
      expect(modeOf(join(target, name))).to.equal('700');
      chmodSync(join(target, name), 0o755);
      expect((await render([])).code).to.equal(0);
      expect(modeOf(join(target, name)), 'of a folder that was rendered before').to.equal('700');
    });
  }
});
