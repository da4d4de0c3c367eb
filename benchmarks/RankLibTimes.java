// Training by RankLib in a warm JVM: reads lines of a method and its rounds; prints seconds and the model of each.
// RANKVIZ_RANKLIB names a folder or JAR of RankLib's classes. java compiles this file itself.
// Arguments: file, thresholds of a feature.
import ciir.umass.edu.features.FeatureManager;
import ciir.umass.edu.learning.*;
import ciir.umass.edu.learning.boosting.*;
import ciir.umass.edu.learning.neuralnet.ListNet;
import ciir.umass.edu.metric.*;
import java.util.*;
import java.util.logging.*;

class RankLibTimes {
  private static final Logger LOG = Logger.getLogger("ciir.umass.edu");

  public static void main(String[] given) {
    LOG.setLevel(Level.OFF);
    DataPoint.missingZero = true;
    RankBoost.nThreshold = Integer.parseInt(given[1]);
    AdaRank.trainWithEnqueue = false; // neither a queue of features nor an early end, as in the paper
    AdaRank.tolerance = 1.0;
    AdaRank.maxSelCount = 1; // a feature that changes nothing gives way at once, as ours
    List<RankList> documents = FeatureManager.readInput(given[0]);
    int[] features = FeatureManager.getFeatureFromSampleVector(documents);
    Scanner asked = new Scanner(System.in);
    while (asked.hasNext()) {
      String method = asked.next();
      AdaRank.nIteration = RankBoost.nIteration = ListNet.nIteration = asked.nextInt();
      List<RankList> train = new ArrayList<>(documents); // RankBoost replaces its lists
      long began = System.nanoTime();
      MetricScorer measure = method.equals("AdaRankMAP") ? new APScorer() : new NDCGScorer(10);
      Ranker ranker = switch (method) {
        case "RankBoost" -> new RankBoost(train, features, measure);
        case "ListNet" -> new ListNet(train, features, measure);
        default -> new AdaRank(train, features, measure);
      };
      ranker.init();
      ranker.learn();
      System.out.println((System.nanoTime() - began) / 1e9 + " " + ranker.toString().replace("\n", " "));
    }
  }
}
