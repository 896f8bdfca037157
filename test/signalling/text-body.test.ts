import { expect } from 'chai';
import { readTextBody } from '../../runtime/signalling/text-body.ts';

const read = (body: string, headers: Readonly<Record<string, string>>, max = 10) =>
  readTextBody({ body, get: (name) => headers[name] }, max);
const status = (body: string, headers: Readonly<Record<string, string>>): number | undefined => {
  const found = read(body, headers);
  return 'refusal' in found ? found.refusal.status : undefined;
};

describe('the text of a MESSAGE', () => {
  for (const type of ['text/plain', 'Text/Plain', 'text/plain;charset=UTF-8', 'text/plain; x=y; charset="us-ascii"']) {
    it(`is accepted as ${type}`, () => {
      expect(read('hello', { 'Content-Type': type })).to.deep.equal({ text: 'hello' });
    });
  }

  for (const type of ['', 'text/html', 'text/plainer', 'application/im-iscomposing+xml', 'text/plain;charset=latin1']) {
    it(`is refused as ${type || 'nothing'}, with the accepted types`, () => {
      expect(read('hello', { 'Content-Type': type })).to.deep.equal({
        refusal: { status: 415, headers: { Accept: 'text/plain' } },
      });
    });
  }

  it('is refused when compressed', () => {
    expect(status('hello', { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' })).to.equal(415);
  });

  it('is limited in octets', () => {
    expect(status('ééééé', { 'Content-Type': 'text/plain' })).to.equal(undefined);
    expect(status('éééééx', { 'Content-Type': 'text/plain' })).to.equal(513);
  });
});
