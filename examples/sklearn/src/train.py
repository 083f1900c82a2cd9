"""A random forest: reads SageMaker's channels, writes the model and the predictions of the test split."""

import csv
import json
import os
import pickle

from sklearn.ensemble import RandomForestClassifier

options = json.loads(os.environ["SM_HPS"])
numbers = ["Beak Length (mm)", "Beak Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]


def read(split):
    path = os.path.join(os.environ[f"SM_CHANNEL_{split.upper()}"], "data.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [[float(row[name] or -1) for name in numbers] for row in rows], [row["Species"] for row in rows]


def main():
    seed = int(os.environ["RINGMASTER_SEED"])
    model = RandomForestClassifier(options["trees"], max_depth=options["depth"], random_state=seed)
    model.fit(*read("train"))
    accuracy = model.score(*read("validation"))
    print(f"validation accuracy {accuracy:.3f}")
    try:  # metrics and model by MLflow's client, where it is installed
        import mlflow
    except ImportError:
        with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.pkl"), "wb") as file:
            pickle.dump(model, file)
    else:
        with mlflow.start_run():
            mlflow.log_params(options)
            mlflow.log_metric("validation/accuracy", accuracy, step=1)
            mlflow.sklearn.log_model(model, name="model", serialization_format="cloudpickle")

    inputs, _ = read("test")
    with open(os.path.join(os.environ["SM_OUTPUT_DATA_DIR"], "predictions.csv"), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", *model.classes_])
        for row, probabilities in enumerate(model.predict_proba(inputs)):
            writer.writerow([row, *probabilities])


main()
