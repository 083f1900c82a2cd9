"""Writes five tabular data sets as CSV: breast cancer (scikit-learn's), the others drawn with the shapes of public ones.

python sets.py FOLDER SEED -> JSON {name: task}. Rows are in random order; `at` numbers them in time.
"""
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

folder, seed = Path(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(seed)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cancer():
    frame = load_breast_cancer(as_frame=True).frame
    frame.columns = [name.replace(" ", "_") for name in frame.columns]
    frame = frame.rename(columns={"target": "y"})
    return frame.assign(y=frame.y.map({0: "malignant", 1: "benign"}))


def adult(rows=20_000):
    """Income above a limit: steps in age and hours, rare large capital gains, interactions of categories."""
    age = np.clip(random.gamma(6, 6.5, rows), 17, 90).round()
    education = random.choice(16, rows, p=np.array([1, 2, 3, 4, 5, 6, 6, 4, 30, 20, 5, 4, 16, 5, 1, 1]) / 113) + 1
    hours = np.clip(random.normal(40, 12, rows), 1, 99).round()
    gain = np.where(random.random(rows) < 0.08, random.lognormal(8.3, 1.2, rows).round(), 0)
    loss = np.where(random.random(rows) < 0.05, random.normal(1_870, 350, rows).round(), 0)
    marital = random.choice(["married", "never", "divorced", "widowed", "separated"], rows, p=[0.46, 0.33, 0.14, 0.04, 0.03])
    work = random.choice(["private", "self", "government", "none"], rows, p=[0.7, 0.11, 0.13, 0.06])
    jobs = [f"job{i}" for i in range(14)]
    job = random.choice(jobs, rows)
    sex = random.choice(["f", "m"], rows, p=[0.33, 0.67])
    country = random.choice([f"c{i}" for i in range(40)], rows, p=np.r_[0.9, np.full(39, 0.1 / 39)])
    effect = dict(zip(jobs, random.normal(0, 0.8, 14)))
    score = -3.4 + 0.33 * (education - 9) + 2.2 * (marital == "married") + np.vectorize(effect.get)(job)
    score += 1.1 * ((age > 28) & (age < 62)) + 0.03 * np.clip(hours - 40, -20, 20) + 2.5 * (gain > 5_000) - 1.5 * ((gain > 0) & (gain < 3_000))
    score += 1.6 * ((loss > 1_800) & (loss < 2_000)) + 0.5 * (sex == "m") * (marital != "married") - 0.7 * (work == "none")
    frame = pd.DataFrame(dict(age=age, education=education, hours=hours, gain=gain, loss=loss, marital=marital, work=work, job=job, sex=sex, country=country))
    frame.loc[random.random(rows) < 0.05, "work"] = np.nan
    return frame.assign(y=np.where(random.random(rows) < sigmoid(score), "over", "under"))


def credit(rows=30_000):
    """Default of a loan, about 6 % positive: heavy tails, counts of late payments, missing incomes."""
    limit = random.lognormal(11.7, 0.9, rows).round(-3)
    used = np.clip(random.beta(0.6, 1.2, rows) * random.lognormal(0, 0.3, rows), 0, 3)
    late = [random.poisson(np.where(random.random(rows) < 0.1, 1.5, 0.08)) for _ in range(4)]
    income = random.lognormal(8.5, 0.7, rows).round()
    age = np.clip(random.normal(45, 14, rows), 21, 95).round()
    lines = random.poisson(8, rows)
    debt = np.where(random.random(rows) < 0.2, random.lognormal(6, 1.5, rows), random.beta(2, 4, rows))
    score = -4.3 + 1.7 * np.sqrt(used) + 0.9 * np.minimum(sum(late), 4) + 1.1 * (late[0] >= 1) - 0.35 * (np.log(limit) - 11.7)
    score += 0.8 * (lines < 3) - 0.4 * (np.log(income) - 8.5) + 0.6 * (age < 30) * (used > 0.6) + 0.5 * (debt > 0.45) * (debt < 1)
    frame = pd.DataFrame(dict(limit=limit, used=used.round(6), income=income, age=age, lines=lines, debt=debt.round(6)) | {f"late{i}": values for i, values in enumerate(late)})
    frame.loc[random.random(rows) < 0.18, "income"] = np.nan
    return frame.assign(y=np.where(random.random(rows) < sigmoid(score), "default", "paid"))


def housing(rows=20_000):
    """Price of a block of houses: two coasts, twelve cities, income with a limit."""
    cities = random.uniform([32.5, -124.3], [42, -114.3], (12, 2))
    weight = random.uniform(0.5, 2, 12)
    at = random.integers(0, 12, rows)
    place = np.where(random.random(rows)[:, None] < 0.7, cities[at] + random.normal(0, 0.25, (rows, 2)), random.uniform([32.5, -124.3], [42, -114.3], (rows, 2)))
    income = random.lognormal(1.25, 0.45, rows)
    age = np.clip(random.normal(28, 12, rows), 1, 52).round()
    rooms = np.clip(random.normal(5.3, 1.1, rows) + 0.2 * (income - 3.9), 1, 15)
    people = random.lognormal(7, 0.7, rows).round()
    occupancy = np.clip(random.lognormal(1.05, 0.2, rows), 1, 20)
    near = sum(w * np.exp(-((place - city) ** 2).sum(1) / 0.3) for w, city in zip(weight, cities))
    coast = np.exp(-np.abs(place[:, 1] + 124.3 - 0.9 * (42 - place[:, 0])) / 0.8)
    price = 0.42 * np.minimum(income, 9) + 0.55 * near + 0.7 * coast - 0.15 * (occupancy - 2.9) + 0.004 * age + 0.03 * rooms
    price = np.clip(price * np.exp(random.normal(0, 0.12, rows)), 0.15, 5.0)
    frame = pd.DataFrame(dict(income=income, age=age, rooms=rooms, people=people, occupancy=occupancy, latitude=place[:, 0], longitude=place[:, 1])).round(4)
    return frame.assign(y=price.round(5))


def clicks(rows=40_000):
    """Clicks on advertisements: identifiers with thousands of values, by popularity, and hours."""
    def draw(prefix, count):
        popularity = 1 / np.arange(1, count + 1) ** 0.9
        codes = random.choice(count, rows, p=popularity / popularity.sum())
        return np.array([f"{prefix}{code}" for code in codes]), random.normal(0, 0.7, count)[codes]

    site, a = draw("s", 3_000)
    advertisement, b = draw("a", 800)
    segment, c = draw("u", 200)
    device, d = draw("d", 5)
    hour = random.integers(0, 24, rows)
    price = random.lognormal(0, 0.5, rows).round(3)
    score = -1.6 + a + b + 0.7 * c + 0.4 * d + 0.5 * np.sin(2 * np.pi * (hour - 8) / 24) - 0.3 * price
    frame = pd.DataFrame(dict(site=site, advertisement=advertisement, segment=segment, device=device, hour=hour, price=price))
    return frame.assign(y=np.where(random.random(rows) < sigmoid(score), "click", "none"))


tasks = {}
for make in (cancer, adult, credit, housing, clicks):
    frame = make().sample(frac=1, random_state=seed)
    frame.insert(0, "at", pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(frame)), unit="min"))
    frame.to_csv(folder / f"{make.__name__}.csv", index=False)
    tasks[make.__name__] = "regression" if make is housing else "binary"
print(json.dumps(tasks))
