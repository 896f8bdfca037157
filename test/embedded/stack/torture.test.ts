import { expect } from 'chai';
import { parseMessage, parseUri, SipParseError, type SipRequest } from '../../../runtime/embedded/stack/index.ts';
import { validateRequest } from '../../../runtime/embedded/stack/validate.ts';
import { wire } from './messages.ts';

/** Reads and checks a message the way the endpoint does. */
function accept(text: string): SipRequest {
  const message = parseMessage(wire(text));
  if (message.kind !== 'request') throw new Error('a response');
  validateRequest(message);
  return message;
}

/** Messages after RFC 4475 (section numbers in the titles). */
describe('SIP torture messages', () => {
  it('3.1.1.1 reads a short tortuous INVITE', () => {
    const message = accept(`
INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
TO :
 sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>
  ;
  tag = 98asjd8
MaX-fOrWaRdS: 0068
Call-ID: wsinv.ndaksdj@192.0.2.1
Content-Length   : 150
cseq: 0009
  INVITE
Via  : SIP  /   2.0
 /UDP
    192.0.2.2;branch=390skdjuw
s :
NewFangledHeader:   newfangled value
 continued newfangled value
UnknownHeaderWithUnusualValue: ;;,,;;,;
Content-Type: application/sdp
Route:
 <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
v:  SIP  / 2.0  / TCP     spindle.example.com   ;
  branch  =   z9hG4bK9ikj8  ,
 SIP  /    2.0   / UDP  192.168.255.111   ; branch=
 z9hG4bK30239
m:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =
      newvalue ;
  secondparam ; q = 0.33

v=0
o=mhandley 29739 7272939 IN IP4 192.0.2.3
s=-
c=IN IP4 192.0.2.4
t=0 0
m=audio 49217 RTP/AVP 0 12
m=video 3227 RTP/AVP 31
a=rtpmap:31 LPC
`);
    expect(message.toTag).to.equal('1918181833n');
    expect(message.fromTag).to.equal('98asjd8');
    expect(message.cseq).to.deep.equal({ number: 9, method: 'INVITE' });
    expect(message.topVia).to.include({ transport: 'UDP', host: '192.0.2.2' });
    expect(message.values('via')).to.have.length(3);
    expect(message.values('contact')).to.have.length(1);
    expect(message.body.length).to.equal(150);
  });

  it('3.1.1.2 reads a wide range of valid characters', () => {
    const message = accept(`
!interesting-Method0123456789_*+\`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0
Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+\`'~
To: "BEL:\u0007 NUL:\u0000 DEL:\u007f" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
From: token1~\` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="работающий";tag=_token~1'+\`*%!-.
Call-ID: intmeth.word%ZK-!.*_+'@word\`~)(><:\\/"][?}{
CSeq: 139122385 !interesting-Method0123456789_*+\`.%indeed'~
Max-Forwards: 255
extensionHeader-!.%*+_\`'~:大停電
Content-Length: 0

`);
    expect(message.fromTag).to.equal("_token~1'+`*%!-.");
    expect(parseUri(message.uri).host).to.equal('example.com');
  });

  it('3.1.1.4 and 3.1.1.5 reads escaped nulls and percent signs that are no escapes', () => {
    const message = accept(`
RE%47IST%45R sip:null-%00-null@example.com SIP/2.0
To: "%Z%45" <sip:resource@example.com>
From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
CSeq: 29344 RE%47IST%45R
Max-Forwards: 70
Contact: <sip:alias1@host1.example.com>
C%6Fntact: <sip:alias2@host2.example.com>
Contact: <sip:alias3@host3.example.com>
l: 0

`);
    expect(message.values('contact')).to.have.length(2);
  });

  it('3.1.1.6 reads a message without blanks in header values', () => {
    const message = accept(`
OPTIONS sip:user@example.com SIP/2.0
To:sip:j_user@example.com
From:caller<sip:caller@example.com>;tag=323
Max-Forwards:70
Call-ID:lwsdisp.1234abcd@funky.example.com
CSeq:60 OPTIONS
Via:SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
l:0

`);
    expect(message.fromTag).to.equal('323');
  });

  it('3.1.1.7 reads long values', () => {
    const long = 'x'.repeat(2000);
    const message = accept(`
INVITE sip:user@example.com SIP/2.0
To: "${long}" <sip:user@example.com;${long}=1>
From: sip:${long}@example.com;tag=12${'9'.repeat(300)}
Call-ID: longreq.one${long}
CSeq: 3882340 INVITE
${long.slice(0, 100)}: ${long}
Via: SIP/2.0/TCP sip33.example.com
v: SIP/2.0/TCP ${'sip33.'.repeat(20)}example.com;branch=z9hG4bK-1
l: 0

`);
    expect(message.callId).to.have.length(2011);
  });

  it('3.1.1.8 leaves bytes after the message alone', () => {
    const message = parseMessage(
      wire(
        '\nREGISTER sip:example.com SIP/2.0\nCSeq: 8 REGISTER\nContent-Length: 0\n\nINVITE sip:joe@example.com SIP/2.0\n\n',
      ),
    );
    expect(message.body).to.have.length(0);
  });

  it('3.1.1.13 reads an unusual reason phrase', () => {
    const message = parseMessage(
      wire('\nSIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое\nCSeq: 35 INVITE\nl: 0\n\n'),
    );
    expect(message).to.have.property('status', 200);
  });

  const head =
    'To: sip:user@example.com\nFrom: sip:caller@example.net;tag=1\nCall-ID: x@y\nVia: SIP/2.0/UDP a;branch=z9hG4bK1\n';
  const invalid: Record<string, string> = {
    '3.1.2.2 Content-Length larger than the message': `INVITE sip:u@e.com SIP/2.0\n${head}CSeq: 1 INVITE\nContent-Length: 9999\n\nshort`,
    '3.1.2.3 negative Content-Length': `INVITE sip:u@e.com SIP/2.0\n${head}CSeq: 1 INVITE\nContent-Length: -999\n\n`,
    '3.1.2.4 a CSeq beyond 32 bits': `REGISTER sip:e.com SIP/2.0\n${head}CSeq: 36893488147419103232 REGISTER\n\n`,
    '3.1.2.7 blanks in the request-URI': `INVITE sip:user@example.com; lr SIP/2.0\n${head}CSeq: 1 INVITE\n\n`,
    '3.1.2.8 several blanks in the request line': `INVITE  sip:user@example.com  SIP/2.0\n${head}CSeq: 1 INVITE\n\n`,
    '3.1.2.9 blanks at the end of the request line': `OPTIONS sip:user@example.com SIP/2.0  \n${head}CSeq: 1 OPTIONS\n\n`,
    '3.1.2.11 an open quote in a display name': `INVITE sip:u@e.com SIP/2.0\nTo: "Mr. J. User <sip:j.user@example.com>\nFrom: sip:c@e.net;tag=1\nCall-ID: x\nCSeq: 1 INVITE\nVia: SIP/2.0/UDP a\n\n`,
    '3.1.2.5 a status out of range': 'SIP/2.0 4294967301 better not break the receiver\nCSeq: 1 INVITE\n\n',
    '3.1.2.16 another version': `OPTIONS sip:u@e.com SIP/7.0\n${head}CSeq: 1 OPTIONS\n\n`,
    "3.1.2.17 a CSeq method that is not the request's": `OPTIONS sip:u@e.com SIP/2.0\n${head}CSeq: 8 INVITE\n\n`,
    '3.3.1 missing header fields':
      'INVITE sip:u@e.com SIP/2.0\nVia: SIP/2.0/UDP a;branch=z9hG4bK1\nCSeq: 193942 INVITE\n\n',
    '3.3.8 repeated header fields': `INVITE sip:u@e.com SIP/2.0\n${head}CSeq: 5 INVITE\nCSeq: 59 INVITE\nTo: sip:other@example.net\n\n`,
  };
  for (const [what, text] of Object.entries(invalid)) {
    it(`refuses ${what}`, () => {
      expect(() => accept(`\n${text}`)).to.throw(SipParseError);
    });
  }
});
