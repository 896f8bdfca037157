import { expect } from 'chai';
import { dialogInfo, xml } from '../../../runtime/switch/subscriptions/dialog-info.ts';

describe('a dialog-info document', () => {
  it('names a SIP dialog from the side of the watched phone', () => {
    const tags = [
      { local: 'ours', remote: 'phones' },
      { local: 'ours', remote: 'fork' },
    ];
    const remote = { uri: 'sip:101@demo.local', name: 'Alice "A" <x>' };
    const call = { callid: 'c&1', tags, initiator: false, state: 'early', held: false, remote } as const;
    const text = dialogInfo('sip:102@demo.local', 7, [call]);
    expect(text).to.include('version="7" state="full" entity="sip:102@demo.local"');
    expect(text).to.include(
      '<dialog id="c&amp;1" call-id="c&amp;1" local-tag="phones" remote-tag="ours" direction="recipient">',
    );
    expect(text).to.include('<dialog id="c&amp;1;1" call-id="c&amp;1" local-tag="fork" remote-tag="ours"');
    expect(text).to.include('display="Alice &quot;A&quot; &lt;x&gt;"');
  });

  it('has no characters that XML cannot have', () => {
    expect(xml('a\u0000b\u001b\ud800c\uffff')).to.equal('ab\ufffdc');
    expect(xml('😀 ö')).to.equal('😀 ö');
  });
});
