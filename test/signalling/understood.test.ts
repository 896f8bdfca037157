import { expect } from 'chai';
import { notUnderstood } from '../../runtime/signalling/understood.ts';

const refusal = (uri: string, require?: string) => notUnderstood({ uri, get: () => require });

describe('requests that are not understood', () => {
  it('are those to something else than a SIP URI or a telephone number', () => {
    for (const uri of ['mailto:a@b', 'urn:service:sos', 'sip102', '"x"'])
      expect(refusal(uri)?.status, uri).to.equal(416);
    for (const uri of ['sip:a', 'SIPS:a@b', 'tel:+1']) expect(refusal(uri), uri).to.equal(undefined);
  });

  it('are those that require an extension nobody here knows, which is named', () => {
    expect(refusal('sip:a', 'timer, path ,Foo')).to.deep.equal({ status: 420, headers: { Unsupported: 'path, Foo' } });
    expect(refusal('sip:a', 'Timer,100rel')).to.equal(undefined);
  });
});
