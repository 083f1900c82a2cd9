"""scikit-learn's HistGradientBoosting with its defaults. python peer.py FOLDER NAME TASK TRAIN -> JSON {score, seconds}.

TRAIN is the share of the rows to fit on, from the first; the score (AUC or R2) is that of the last quarter.
"""
import json
import sys
import time
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

folder, name, task, share = Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
frame = pd.read_csv(folder / f"{name}.csv").drop(columns="at")
y = frame.pop("y")
texts = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
# Above 255 categories it refuses a column as categorical: such a column is a number by order.
few = [frame[column].nunique() <= 255 for column in texts] + [False] * (frame.shape[1] - len(texts))
codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=float("nan"))
encode = make_column_transformer((codes, texts), remainder="passthrough")
model = (HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier)(categorical_features=few, random_state=0)
pipeline = make_pipeline(encode, model)
train, test = int(len(y) * share), int(len(y) * 0.75)
start = time.process_time()
pipeline.fit(frame[:train], y[:train])
seconds = time.process_time() - start
if task == "regression":
    score = r2_score(y[test:], pipeline.predict(frame[test:]))
else:
    score = roc_auc_score(y[test:] == pipeline.classes_[1], pipeline.predict_proba(frame[test:])[:, 1])
print(json.dumps({"score": score, "seconds": seconds}))
