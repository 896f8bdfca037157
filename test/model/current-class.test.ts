import { expect } from 'chai';
import { toRestError } from '../../rest-bridge/error-answers.ts';
import { withCurrentClass } from '../../runtime/model/current-class.ts';
import { StaleClassError } from '../../runtime/model/errors.ts';
import { SqlError } from '../../runtime/storage/index.ts';
import { failure } from '../storage/support/storages.ts';

describe('work on a changing class', () => {
  it('is repeated with the current class', async () => {
    const errors = [new StaleClassError(), new SqlError({ message: 'gone', code: '42P01' })];
    let refreshed = 0;
    const act = async (): Promise<string> => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return 'done';
    };
    expect(await withCurrentClass(act, async () => void (refreshed += 1))).to.equal('done');
    expect(refreshed).to.equal(2);
  });

  it('fails with 503 and Retry-After when the class changes at each attempt', async () => {
    const act = async (): Promise<never> => Promise.reject(new StaleClassError());
    const refused = toRestError(await failure(withCurrentClass(act, async () => {})));
    expect(refused.status).to.equal(503);
    expect(refused.headers).to.have.property('retry-after');
  });

  it('passes on other errors', async () => {
    const error = new SqlError({ message: 'wrong', code: '42601' });
    const act = async (): Promise<never> => Promise.reject(error);
    expect(await failure(withCurrentClass(act, async () => {}))).to.equal(error);
  });
});
