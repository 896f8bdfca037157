import { expect } from 'chai';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { play } from './support.ts';

describe('component model_write', () => {
  it('without an id removes and creates nothing', async () => {
    const services = simulatedServices({ clock: new VirtualClock() });
    const removing = `
      model_write: { class: notes, id: "\${call.name}", remove: true }
      exits: { next: end, missing: end }`;
    expect((await play(removing, { services })).error).to.equal('setting');
    const list = await play(
      `
      model_list: { class: notes }
      exits: { next: end, empty: end }`,
      { services },
    );
    expect(list.exit).to.equal('empty');
  });

  it('creates, changes and removes entities found by model_read and model_list', async () => {
    const services = simulatedServices({ clock: new VirtualClock() });
    const run = (block: string) => play(block, { services });
    const created = await run(`
      model_write: { class: notes, entity: { text: hello } }
      next: end`);
    expect(created.result).to.deep.equal({ id: 'notes-1', created: true });
    const changed = await run(
      `
      model_write: { class: notes, id: notes-1, entity: { by: me } }
      exits: { next: end, missing: end }`,
    );
    expect(changed).to.deep.include({ exit: 'next', result: { id: 'notes-1', created: false } });
    const read = await run(`
      model_read: { class: notes, id: notes-1 }
      exits: { next: end, missing: end }`);
    expect(read.result).to.deep.equal({ entity: { id: 'notes-1', text: 'hello', by: 'me' } });
    const list = await run(`
      model_list: { class: notes, filter: { by: you } }
      exits: { next: end, empty: end }`);
    expect(list).to.deep.include({ exit: 'empty', result: { entities: [], count: 0 } });
    const removed = await run(
      `
      model_write: { class: notes, id: notes-1, remove: true }
      exits: { next: end, missing: end }`,
    );
    expect(removed.exit).to.equal('next');
    expect(
      (
        await run(`
      model_read: { class: notes, id: notes-1 }
      exits: { next: end, missing: end }`)
      ).exit,
    ).to.equal('missing');
  });
});
