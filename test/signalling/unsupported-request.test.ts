import { expect } from 'chai';
import { unsupportedRequest } from '../../runtime/signalling/unsupported-request.ts';

const refusal = (uri: string, require?: string) =>
  unsupportedRequest({ method: 'OPTIONS', uri, body: '', get: (name) => (name === 'Require' ? require : undefined) });
const offer = (headers: Readonly<Record<string, string>>, body = 'v=0') =>
  unsupportedRequest({ method: 'INVITE', uri: 'sip:a', body, get: (name) => headers[name] });

describe('unsupported requests', () => {
  it('have a Request-URI that is neither a SIP URI nor a telephone number', () => {
    for (const uri of ['mailto:a@b', 'urn:service:sos', 'sip102', '"x"'])
      expect(refusal(uri)?.status, uri).to.equal(416);
    for (const uri of ['sip:a', 'SIPS:a@b', 'tel:+1']) expect(refusal(uri), uri).to.equal(undefined);
  });

  it('require an unknown extension, which the refusal names', () => {
    expect(refusal('sip:a', 'timer, path ,Foo')).to.deep.equal({ status: 420, headers: { Unsupported: 'path, Foo' } });
    expect(refusal('sip:a', 'Timer,100rel')).to.equal(undefined);
    const proxied = { method: 'REGISTER', uri: 'sip:a', body: '', get: () => 'path' };
    expect(unsupportedRequest(proxied), 'in Proxy-Require, too').to.deep.equal({
      status: 420,
      headers: { Unsupported: 'path' },
    });
  });

  it('are INVITEs whose body is compressed or not a session description', () => {
    for (const type of ['application/sdp', 'Application/SDP ; charset=utf-8', 'multipart/mixed;boundary=x'])
      expect(offer({ 'Content-Type': type, 'Content-Encoding': 'identity' }), type).to.equal(undefined);
    expect(offer({})).to.equal(undefined);
    for (const type of ['text/plain', 'application/json', 'application/sdpx'])
      expect(offer({ 'Content-Type': type }), type).to.deep.include({ status: 415 });
    expect(offer({ 'Content-Type': 'text/plain' }, '')).to.equal(undefined);
    for (const name of ['Content-Encoding', 'e'])
      expect(offer({ [name]: 'gzip' })).to.deep.equal({ status: 415, headers: { 'Accept-Encoding': 'identity' } });
  });
});
