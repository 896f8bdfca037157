import { expect } from 'chai';
import { inOrder } from '../../../runtime/switch/esg/gateway-order.ts';

const gateway = (name: string, priority: number, weight: number) => ({ name, priority, weight });

describe('the order of gateways', () => {
  const order = (random: number, ...gateways: ReturnType<typeof gateway>[]) =>
    inOrder(gateways, () => random).map(({ name }) => name);

  it('is that of their priorities, whatever their weights', () => {
    const gateways = [gateway('c', 30, 100), gateway('a', 10, 1), gateway('b', 20, 50)];
    for (const random of [0, 0.5, 0.999]) expect(order(random, ...gateways)).to.deep.equal(['a', 'b', 'c']);
  });

  it('is random by weight within a priority: of 3 and 1, the first gets three calls of four', () => {
    const gateways = [gateway('light', 1, 1), gateway('heavy', 1, 3)];
    expect(order(0, ...gateways)).to.deep.equal(['light', 'heavy']);
    expect(order(0.999, ...gateways)).to.deep.equal(['heavy', 'light']);
    let heavyFirst = 0;
    for (let at = 0; at < 1000; at++) if (order((at + 0.5) / 1000, ...gateways)[0] === 'heavy') heavyFirst++;
    expect(heavyFirst).to.equal(750);
  });

  it('gives a gateway of weight 0 a small chance, and several of them no order', () => {
    expect(order(0, gateway('none', 1, 0), gateway('heavy', 1, 9))).to.deep.equal(['none', 'heavy']);
    expect(order(0.01, gateway('none', 1, 0), gateway('heavy', 1, 9))).to.deep.equal(['heavy', 'none']);
    expect(order(0.1, gateway('a', 1, 0), gateway('b', 1, 0))).to.deep.equal(['a', 'b']);
    expect(order(0.9, gateway('a', 1, 0), gateway('b', 1, 0))).to.deep.equal(['b', 'a']);
  });
});
