import { expect } from 'chai';
import { isTokenShaped, newSessionToken } from '../../runtime/iam/session-token.ts';

describe('iam: secrets of sessions', () => {
  it('are all different, and may stand behind an option of a command', () => {
    const tokens = Array.from({ length: 2000 }, newSessionToken);
    expect(new Set(tokens).size).to.equal(tokens.length);
    expect(tokens.filter((token) => !isTokenShaped(token) || token.startsWith('-'))).to.deep.equal([]);
  });
});
