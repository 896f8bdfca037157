import { expect } from 'chai';
import { isTokenShaped, newSessionToken } from '../../runtime/iam/session-token.ts';

describe('iam: secrets of sessions', () => {
  it('are unique, and never look like a command line option', () => {
    const tokens = Array.from({ length: 2000 }, newSessionToken);
    expect(new Set(tokens).size).to.equal(tokens.length);
    expect(tokens.filter((token) => !isTokenShaped(token) || token.startsWith('-'))).to.deep.equal([]);
  });
});
