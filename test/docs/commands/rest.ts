import { expect } from 'chai';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from './reader.ts';

const THIS_YEAR = {
  '2026-11-01': `${new Date().getFullYear()}-01-01`,
  '2026-12-01': `${new Date().getFullYear() + 1}-01-01`,
};

/** REST and the data model, in the order of docs/rest/README.md. */
export function rest(reader: () => Reader): void {
  it('REST: sessions, collections, providers, scripts and the data model, in their order', async () => {
    await reader().shell('mkdir -p "$HOME/files"; cd "$HOME/files"');
    for (const name of ['me.png', 'contract.pdf', '1.png', '2.png'])
      writeFileSync(join(reader().machine.folder, 'home/files', name), name);
    for (const [from, to] of [
      ['scenarios/examples/prompts/welcome.wav', 'hours.wav'],
      ['scenarios/examples/prompts/menu.wav', 'new-hours.wav'],
      ['test/prompts/sounds/600.mp3', 'goodbye.mp3'],
    ] as const)
      copyFileSync(join(import.meta.dirname, '../../..', from), join(reader().machine.folder, 'home/files', to));
    for (const page of ['sessions', 'collections', 'providers', 'webhooks', 'scripts', 'prompts', 'agents']) {
      const out = await reader().runAll(`docs/rest/${page}.md`);
      if (page === 'sessions') expect(out).to.include('"login":"admin"');
      if (page === 'scripts') expect(out).to.include('{"b":2}').and.include('would break the ivrscript');
      if (page === 'agents') expect(out).to.include('"state":"away"');
    }
    expect(await reader().runAll('docs/model.md')).to.include('"count"');
  });

  it('REST: voice messages, a campaign, versions of a file, roles of an old store, the audit log', async () => {
    expect(await reader().run('docs/rest/voice-messages.md', '/domain/voicemessages')).to.include('[]');
    expect(await reader().runAll('docs/scenarios/campaigns.md'))
      .to.include('{"due":2}')
      .and.include('"waiting":2');
    writeFileSync(
      join(reader().machine.folder, 'var/lib/ringmaster/scenarios/reception.yaml'),
      'id: reception\nstart: bye\nblocks:\n  bye:\n    hangup:\n    next: end\n',
    );
    expect(await reader().runAll('docs/operating/demo-data.md')).to.include('');
    const audit = await reader().run('docs/operating/monitoring.md', '/model/audit', { values: THIS_YEAR });
    expect(audit).to.include('/iam/roles');
  });
}
