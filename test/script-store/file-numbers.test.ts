import { expect } from 'chai';
import { FileNumbers } from '../../runtime/script-store/index.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

describeStorages('numbers of the versions of scenario files', (newPlace) => {
  const storage = withStorage(newPlace);

  it('are the same for the same text on all nodes, also when nodes count at once and after a restart', async () => {
    const nodes = await Promise.all([FileNumbers.open(storage()), FileNumbers.open(storage())]);
    const [one, other] = nodes;
    expect(await one?.of('menu', 'aaa')).to.equal(1);
    expect(await other?.of('menu', 'bbb')).to.equal(2);
    expect(await one?.of('menu', 'bbb')).to.equal(2);
    expect(await other?.of('menu', 'aaa')).to.equal(1);
    expect(await one?.of('echo', 'bbb')).to.equal(1);
    const texts = ['c', 'd', 'e', 'f', 'c', 'd', 'e', 'f'];
    const counted = await Promise.all(texts.map((text, index) => nodes[index % 3 === 0 ? 0 : 1]?.of('menu', text)));
    expect(counted.slice(0, 4)).to.deep.equal(counted.slice(4));
    expect(counted.slice(0, 4)).to.have.members([3, 4, 5, 6]);
    const later = await FileNumbers.open(storage());
    expect(await Promise.all(texts.map((text) => later.of('menu', text)))).to.deep.equal(counted);
    expect(await later.of('menu', 'aaa')).to.equal(1);
  });
});
