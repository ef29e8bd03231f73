import { expect, test } from 'vitest';

import { campaigns, isCampaign } from './campaigns';

test('every kind of job that makes runs of its own has a view, found by its name', () => {
  expect(campaigns().sort()).toEqual(['capacity', 'compare', 'drill', 'isolation', 'matrix', 'profile']);
  expect([isCampaign('profile'), isCampaign('run'), isCampaign(undefined)]).toEqual([true, false, false]);
});
