import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { countsOf } from './counts.ts';
import type { Reader } from './reader.ts';

const BACKUP = 'docs/operating/backup.md';

/** The end of a node with demo data and the embedded database, and its copy. */
export function drainAndCopy(reader: () => Reader): void {
  it('a drain is cancelled, and ends the node after its last call', async () => {
    const { blocks, machine } = reader();
    const drain = blocks.one('docs/operating/start-and-stop.md', 'drain --seconds 300');
    const [alice, bob] = await reader().phones('alice', 'bob');
    const { outgoing, incoming } = await reader().talk(alice, bob);
    await reader().shell(`cd "$MACHINE/opt/ringmaster"; (${drain.trim()}) < /dev/null > drained 2>&1 & DRAIN=$!`);
    const state = async () => (await reader().ask<{ state: string }>('/api/drain')).state;
    await eventually(async () => expect(await state()).to.equal('draining'), 20_000);
    await reader().run('docs/operating/start-and-stop.md', 'drain --cancel');
    expect(await reader().shell('wait $DRAIN || echo $?')).to.equal('4\n');
    await outgoing.hangup();
    await incoming.ended();
    await reader().hangUp();
    await machine.terminal.run(drain);
    await reader().shell('wait $SERVICE || :');
    await machine.terminal.serve(blocks.one('docs/operating/start-and-stop.md', 'RINGMASTER_DRAIN=600'));
  });

  it('the copy of a node with the embedded database starts anew, with every count and file as before', async () => {
    const { machine } = reader();
    await reader().shell('echo "RINGMASTER_DATA_DIR=$RINGMASTER_DATA_DIR" > /etc/ringmaster.env');
    await reader().shell(`curl -s -X PUT $API/user/avatar -H "$AUTH" -F file=@package.json`);
    const before = await countsOf(machine.terminal);
    await reader().run(BACKUP, 'node.tar.gz --directory="$RINGMASTER_DATA_DIR" .');
    await reader().shell('systemctl stop ringmaster; find "$RINGMASTER_DATA_DIR" -mindepth 1 -delete');
    await reader().run(BACKUP, 'tar --extract --gzip --file=/var/backups/ringmaster/node.tar.gz');
    expect(await countsOf(machine.terminal)).to.deep.equal(before);
    expect(Object.values(before).filter((count) => count > 0).length).to.be.greaterThan(10);
    expect(await reader().shell('curl -s "$API/user/avatar" -H "$AUTH"')).to.include('"ringmaster"');
    const counts = await reader().run(BACKUP, 'countonly');
    expect(counts.match(/"count":\d+/g)).to.have.length(3);
  });
}
