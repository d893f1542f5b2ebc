"""Compiled loops over the jobs of a table in the order in which they were submitted."""

from __future__ import annotations

import math

import numpy as np

from evenly.compiling import njit

__all__ = ["MOST", "last_jobs", "replayed"]

#: How many earlier jobs of a group count, and how much less each older one counts.
MOST, DECAY = 60, 0.95
#: A group's jobs count as much as those of the wider group around it once there are so many.
PRIOR = 1.0
#: A job counts so much less for each factor of two between its cores and those asked for.
ALIKE = 0.6
#: How far one job that ended moves what decides on the next limits: at least, and over the root of how many have ended.
STEP, FIRST_STEP = 0.02, 0.1
#: The first price of a kill, in the time that its user asked for. With the time alone, too many of the first hundred
#: jobs are killed; with more than this, too few of the next thousand.
FIRST_PRICE = 3.0


@njit(cache=True)
def _mixture(i, groups, head, previous, log_seconds, log_limits, log_recent, doublings, values, weights):  # type: ignore[no-untyped-def]
    """Write how long job i may take, as a weighted sample of logarithms; return its size, 0 without earlier jobs.

    Each earlier job says three things: as long as it took; as much of what was asked as it took; as much of what its
    user's last two jobs took then (Tsafrir et al. 2007). The weight of a group is that of its jobs over their sum with
    `PRIOR`, the rest is left to the wider group.
    """
    count = 0
    left = 1.0
    total = 0.0
    for level in range(groups.shape[0] - 1, -1, -1):
        if groups[level, i] < 0:
            continue
        first = count
        sum_of_weights = 0.0
        j = head[level, groups[level, i]]
        weight = 1.0
        for _ in range(MOST):
            if j < 0:
                break
            for kind in range(3):
                if kind == 0:
                    shift = 0.0
                elif kind == 1:
                    shift = log_limits[i] - log_limits[j]
                else:
                    shift = log_recent[i] - log_recent[j]
                if not math.isnan(shift):
                    values[count] = log_seconds[j] + shift
                    weights[count] = weight * ALIKE ** abs(doublings[i] - doublings[j])
                    sum_of_weights += weights[count]
                    count += 1
            weight *= DECAY
            j = previous[level, j]
        if sum_of_weights == 0.0:
            continue
        size = sum_of_weights / 3.0
        share = left if level == 0 else left * size / (size + PRIOR)
        for k in range(first, count):
            weights[k] *= share / sum_of_weights
        left -= share
        total += share
    for k in range(count):
        weights[k] /= total
    return count


@njit(cache=True)
def _quantile(order, count, values, weights, level):  # type: ignore[no-untyped-def]
    cumulated = 0.0
    for k in range(count):
        cumulated += weights[order[k]]
        if cumulated >= level - 1e-9:
            return values[order[k]]
    return values[order[count - 1]]


@njit(cache=True)
def _cheapest(order, count, values, weights, log_price, most):  # type: ignore[no-untyped-def]
    """Return the limit with the least expected unused time plus the price of a kill times its probability."""
    price = math.exp(log_price)
    below = 0.0
    time_below = 0.0
    best = most
    least = math.inf
    for k in range(count):
        took = min(math.exp(values[order[k]]), most)
        if math.isinf(took):
            break
        seconds = min(math.ceil(took / 60.0 - 1e-9) * 60.0, most)
        below += weights[order[k]]
        time_below += weights[order[k]] * took
        cost = seconds * below - time_below + price * (1.0 - below)
        if cost < least:
            least = cost
            best = seconds
    return best


@njit(cache=True)
def _proposals(count, values, weights, logit, log_price, most):  # type: ignore[no-untyped-def]
    """Return the limit that is too short with the probability of `logit`, and the cheapest, up to `most`.

    Both are infinite if `most` and what is known of the job are.
    """
    order = np.argsort(values[:count])
    level = 1.0 / (1.0 + math.exp(logit))
    seconds = math.exp(min(_quantile(order, count, values, weights, level), math.log(most)))
    if math.isinf(seconds):
        return seconds, seconds
    same = min(math.ceil(seconds / 60.0 - 1e-9) * 60.0, most)
    return same, _cheapest(order, count, values, weights, log_price, most)


@njit(cache=True)
def replayed(by_end, submit, end, groups, n_groups, seconds, stopped, limits, most, recent, cores, kill):  # type: ignore[no-untyped-def]
    """Return two limits for each job, shape (2, n): of equal probability, and of the least unused time; NaN if unknown.

    The jobs are in the order of their submission, `by_end` has them as they ended; a job is known to those submitted
    after its end. No limit is above `most`. Both limits adapt to the share of jobs that would have been killed by them
    (adaptive conformal inference, Gibbs and Candès 2021): through the probability, and through the price of a kill.
    """
    n = len(submit)
    levels = groups.shape[0]
    head = np.full((levels, n_groups), -1, np.int64)
    previous = np.full((levels, n), -1, np.int64)
    log_limits, log_recent, doublings = np.log(limits), np.log(recent), np.log2(cores)
    log_seconds = np.where(stopped, math.inf, np.log(seconds))
    values = np.empty(levels * MOST * 3)
    weights = np.empty(levels * MOST * 3)
    found = np.full((2, n), np.nan)
    logit = math.log(kill / (1.0 - kill))
    log_price = math.nan
    known = 0
    judged = 0
    for i in range(n):
        while known < n and end[by_end[known]] <= submit[i]:
            j = by_end[known]
            known += 1
            for level in range(levels):
                if groups[level, j] >= 0:
                    previous[level, j] = head[level, groups[level, j]]
                    head[level, groups[level, j]] = j
            if not stopped[j] and not math.isnan(found[0, j]):
                judged += 1
                step = max(STEP, FIRST_STEP / math.sqrt(judged)) / math.sqrt(kill)
                logit += step * (kill - (1.0 if seconds[j] > found[0, j] else 0.0))
                log_price += step * ((1.0 if seconds[j] > found[1, j] else 0.0) - kill)
        count = _mixture(i, groups, head, previous, log_seconds, log_limits, log_recent, doublings, values, weights)
        if count == 0:
            continue
        if math.isnan(log_price):
            log_price = math.log(FIRST_PRICE * most[i])
        found[0, i], found[1, i] = _proposals(count, values, weights, logit, log_price, most[i])
    return found


@njit(cache=True)
def last_jobs(by_end, submit, end, users, n_users, seconds):  # type: ignore[no-untyped-def]
    """Return what each user's last job, and the last two in the mean, took as each job was submitted, shape (2, n)."""
    last = np.full((2, n_users), np.nan)
    found = np.full((2, len(submit)), np.nan)
    known = 0
    for i in range(len(submit)):
        while known < len(by_end) and end[by_end[known]] <= submit[i]:
            j = by_end[known]
            known += 1
            if users[j] >= 0:
                last[1, users[j]] = last[0, users[j]]
                last[0, users[j]] = seconds[j]
        if users[i] < 0:
            continue
        one, two = last[0, users[i]], last[1, users[i]]
        found[0, i] = one
        found[1, i] = one if math.isnan(two) else 0.5 * (one + two)
    return found
